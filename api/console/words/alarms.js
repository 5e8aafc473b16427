/** Alarms by their names: a title, and what happened and what to do (`events/alarms.py`). */

import { words } from "../core/words.js";

words({
  "alarm.partition_gap": ["A gap in a partition's log", "分区日志有缺口"],
  "alarm.partition_gap.what": [
    "Entries of a partition's log are missing, or no append wrote them. The partition neither appends nor folds; the other partitions go on. See docs/operating.md, \"A gap in the log\".",
    "分区日志缺少条目，或有条目并非由追加写入：该分区不再追加也不再折叠，其他分区照常。应对办法见 docs/operating.md 的 “A gap in the log”。",
  ],
  "alarm.clock_apart": ["The clocks are apart", "时钟不一致"],
  "alarm.clock_apart.what": [
    "Redis's clock and this machine's are more than five minutes apart: set the one that is wrong by NTP.",
    "Redis 与本机的时钟相差五分钟以上：请用 NTP 校正不准的那一个。",
  ],
  "alarm.clock_back": ["Redis's clock went back", "Redis 时钟回拨"],
  "alarm.clock_back.what": [
    "Redis's clock went back: check its NTP. Replies recorded meanwhile may appear before the messages that they answer.",
    "Redis 的时钟回拨了：请检查其 NTP；其间所说的内容可能排在它所回应的内容之前。",
  ],
  "alarm.log_changed": ["The log was changed", "日志被更改"],
  "alarm.log_changed.what": [
    "The log differs from a head that was kept outside Redis: it was changed or cut off, or it is another store. `engramlog verify` shows where; restore a copy of the log.",
    "日志与保存在 Redis 之外的链头不符：它被更改、截断，或是另一个存储。`engramlog verify` 会指出位置；请用日志的副本恢复。",
  ],
  "alarm.head_sink_failed": ["Heads could not be kept", "链头未能保存"],
  "alarm.head_sink_failed.what": [
    "Heads could not be kept, or not be given to a sink of ENGRAMLOG_HEAD_SINKS; it is tried again.",
    "链头未能保存，或未能送到 ENGRAMLOG_HEAD_SINKS 的某个目标；会再次尝试。",
  ],
  "alarm.rebuild_left": ["A rebuild is unfinished", "重建未完成"],
  "alarm.rebuild_left.what": [
    "A rebuild ended before it switched a partition: `engramlog rebuild` goes on with it, `--drop-left` drops what it left.",
    "重建在切换分区之前结束：`engramlog rebuild` 可继续，`--drop-left` 可丢弃遗留部分。",
  ],
  "alarm.erasure_left": ["An erasure is unfinished", "擦除未完成"],
  "alarm.erasure_left.what": [
    "An erasure did not end. Run `engramlog erase` with the same owner and ids again. Until then Redis and its files may still hold data derived from those words.",
    "某个所有者或其部分记忆的擦除尚未结束：对同样的对象再次运行 `engramlog erase` 可继续。在此之前，由这些内容生成的数据可能仍留在 Redis 及其文件中。",
  ],
  "alarm.erased_came_back": ["What was erased came back", "已擦除的内容随旧副本返回"],
  "alarm.erased_came_back.what": [
    "An older copy of the store was put back, with owners or memories that had been erased since. They were hidden again at once; `engramlog erase --again` removes what came back with them.",
    "恢复了存储的旧副本，其中含有此后已被擦除的所有者或记忆。它们已被立即再次擦除，不再有任何回答提及；`engramlog erase --again` 会清除随之返回的内容。",
  ],
  "alarm.store_restored": ["A restored copy of the store", "存储是从备份恢复的副本"],
  "alarm.store_restored.what": [
    "The store was restored from a backup, and nobody took it over: it answers, and takes nothing new, for the original may still run or have said more since. `engramlog backup take-over` has it take the original's place. docs/how-to/backup.md says how.",
    "存储从备份恢复，尚无人接管：它照常回答，但不接受任何新内容，因为原存储可能仍在运行，或此后又记录了更多。`engramlog backup take-over` 让它接替原存储。做法见 docs/how-to/backup.md。",
  ],
  "alarm.log_cut": ["An unfinished write was cut off", "未完成的写入被截去"],
  "alarm.log_cut.what": [
    "The append-only file ended in an unfinished write, which was cut off. After a crash no acknowledged event is lost, unless the disk failed or somebody cut the file. The text says how many bytes.",
    "追加日志文件以未完成的写入结尾，已被截去。崩溃后不会因此丢失任何已确认的内容，除非磁盘失实或有人截断了文件：说明中写有字节数。",
  ],
  "alarm.log_rolled_back": ["The log was rolled back", "日志被回退"],
  "alarm.log_rolled_back.what": [
    "The log is shorter or other than what was folded; look at the Redis before anything else.",
    "日志比已折叠的更短，或与之不同；请先检查 Redis。",
  ],
  "alarm.partition_stands_still": ["A partition has stopped", "分区停滞"],
  "alarm.partition_stands_still.what": [
    "Events wait and no worker folds them. Is a worker running? Its log says why it stopped; `engramlog status` shows who holds the partition.",
    "有事件在等待而无人折叠：工作进程在运行吗？其日志会说明停止原因；`engramlog status` 会显示由谁持有。",
  ],
  "alarm.disk_full": ["The disk is nearly full", "磁盘将满"],
  "alarm.disk_full.what": [
    "The disk of the data folder is nearly full: no writes are taken, reads go on. Make room; then writes go on by themselves.",
    "数据目录所在磁盘将满：不再接受写入，仍可读取。请腾出空间，写入会自行恢复。",
  ],
  "alarm.replicas_lacking": ["Replicas are lacking", "副本不足"],
  "alarm.replicas_lacking.what": [
    "A primary has fewer replicas than appends wait for (`ENGRAMLOG_MIN_REPLICAS`). Events are written and readable, but the answer is `under_replicated`. Bring the replicas back. With two for each primary the loss of one stops nothing.",
    "跟随主节点的副本少于追加所等待的数量（`ENGRAMLOG_MIN_REPLICAS`）：那里的内容已写入且可读取，但回答为 `under_replicated`。请恢复副本；每个主节点有两个副本才能承受失去一个。",
  ],
  "alarm.redis_writes_fail": ["Redis cannot write to its disk", "Redis 无法写入磁盘"],
  "alarm.redis_writes_fail.what": [
    "Redis cannot write its append-only file: its disk is full, read-only or broken. Redis refuses writes until it can. Make room or repair the disk; writes then go on by themselves.",
    "Redis 无法写入其追加文件：磁盘已满、只读或损坏，在恢复之前不接受写入。请腾出空间或修复磁盘，写入会自行恢复。",
  ],
  "alarm.disk_low": ["The disk is low", "磁盘空间不足"],
  "alarm.disk_low.what": [
    "The disk of the data folder has no room for the next rewrite of the log, which takes as much again as the log: make room.",
    "数据目录所在磁盘容不下日志的下一次重写，重写需要与日志同样大的空间：请腾出空间。",
  ],
  "alarm.receipt_lost": ["An acknowledged event is lost", "已确认的事件丢失"],
  "alarm.receipt_lost.what": [
    "The log no longer holds an event that was acknowledged: Redis came back with another history (a cut append-only file, a replica, a restored copy). Restore it, or clear the alarm to append to the history that is there; then send again what was sent since.",
    "日志中不再有已确认的事件：Redis 恢复成了另一段历史（被截断的追加文件、副本或还原的拷贝）。请还原，或清除此警报以在现有历史上继续追加，然后重新发送此后的内容。",
  ],
  "alarm.receipts_not_kept": ["Receipts could not be kept", "回执未能保存"],
  "alarm.receipts_not_kept.what": [
    "The newest receipts could not be written to or read from the data folder. If this process ends, a loss of its acknowledged events would not be noticed. Writing is tried again.",
    "最新的回执未能写入数据目录，或无法读取：进程已确认但随其结束而丢失的内容将不会被告知。会再次尝试。",
  ],
  "alarm.keys_older": ["The key store is an older copy", "密钥库是旧的拷贝"],
  "alarm.keys_older.what": [
    "The key store is an older copy than the log: newer events cannot be opened, and newer rejections do not hold. Put the newer key store back; the alarm goes when the store is opened again.",
    "密钥库比日志旧：较新的事件无法打开，较新的拒绝也不再有效。请放回较新的密钥库；再次打开存储时警报自动消失。",
  ],
  "alarm.rejections_restored": ["Rejections were said again", "拒绝已重新写入"],
  "alarm.rejections_restored.what": [
    "The store lacked rejections that are kept outside of it: it came back as it was before them. They were said again, and hold. Look which copy was restored, and clear the alarm.",
    "存储缺少保存在其外的拒绝：它恢复成了更早的状态。这些拒绝已重新写入并生效。请查看还原了哪份拷贝，然后清除此警报。",
  ],
  "alarm.rejections_lost": ["Rejections are lost", "拒绝丢失"],
  "alarm.rejections_lost.what": [
    "The store lacked rejections that are kept outside it, and they could not be recorded again, so rejected statements may be shown. Reject them again, and clear the alarm.",
    "存储缺少保存在其外的拒绝，且未能重新写入：被拒绝的内容可能再次出现。请重新拒绝，然后清除此警报。",
  ],
  "alarm.rejections_not_kept": ["Rejections could not be kept", "拒绝未能保存"],
  "alarm.rejections_not_kept.what": [
    "Rejections could not be kept outside the store, read from there, or recorded again, so a restored copy may show rejected statements. It is tried again.",
    "拒绝未能保存在存储之外，或无法读取、重新写入：还原的拷贝可能说出被拒绝的内容。会再次尝试。",
  ],
  "alarm.inbox_full": ["An inbox is full", "待办已满"],
  "alarm.inbox_full.what": [
    "The inbox of an owner is full, so further changes that need a person are ignored. Answer items with `engramlog inbox OWNER`. docs/explanation/trust.md says how to withhold a source.",
    "某所有者待人处理的事项过多，不再接受需要等待的内容：`engramlog inbox OWNER` 可列出，`accept`、`amend`、`reject` 可答复。是谁说了这么多？如何搁置来源见 docs/explanation/trust.md。",
  ],
  "alarm.owner_too_large": ["An owner is too large", "所有者过大"],
  "alarm.owner_too_large.what": [
    "An owner has more memories than a process loads (`ENGRAMLOG_VIEW_BYTES`): it is not searched, and jobs leave it out. docs/operating.md, \"Very large owners\", says what can be done.",
    "某所有者的记忆超过一个进程可载入的数量（`ENGRAMLOG_VIEW_BYTES`）：无法搜索，作业也会跳过。应对办法见 docs/operating.md 的 “Very large owners”。",
  ],
  "alarm.owner_quarantined": ["An owner is quarantined", "所有者停滞"],
  "alarm.owner_quarantined.what": [
    "An event of an owner could not be folded. Answers about this owner end before that event; other owners go on. `engramlog dead` says why, and `engramlog dead OWNER --retry` or `--discard` frees the owner.",
    "某所有者的一个事件无法折叠：此后关于该所有者的内容都不会出现在回答中；其他所有者照常。`engramlog dead` 会说明原因，`engramlog dead OWNER --retry` 或 `--discard` 可使其恢复。",
  ],
  "alarm.socket_removed": ["The socket was removed", "套接字被移除"],
  "alarm.socket_removed.what": [
    "The socket of the private Redis was removed and put back: find out what cleans that folder, and keep it off.",
    "私有 Redis 的套接字曾被移除，现已放回：请查明是什么在清理该目录，并加以阻止。",
  ],
  "alarm.state_damaged": ["A stored record is damaged", "存储的记录损坏"],
  "alarm.state_damaged.what": [
    "A stored record cannot be read: `engramlog verify`, then `engramlog rebuild`.",
    "有一条存储的记录无法读取：先 `engramlog verify`，再 `engramlog rebuild`。",
  ],
  "alarm.identity_unreachable": ["The identity provider cannot be reached", "无法连接身份提供方"],
  "alarm.identity_unreachable.what": [
    "The keys of the identity provider (`ENGRAMLOG_IDENTITY_ISSUER`) cannot be asked for. Known ones hold for an hour, then nobody with a token of it is admitted; keys of the store open as ever.",
    "无法获取其公钥。已知的公钥一小时内仍有效，之后不再接受由它签发的令牌；本存储的密钥照常可用。",
  ],
  "alarm.keys_unavailable": ["The master key cannot be had", "无法取得主密钥"],
  "alarm.keys_unavailable.what": [
    "The master key (`ENGRAMLOG_SEALED_BY`) cannot be had, or not for some owners. Nothing is lost: what is said of them waits in the log, and is folded by itself once it can. The text says why; docs/how-to/sealing.md says what to do.",
    "无法取得主密钥（`ENGRAMLOG_SEALED_BY`），或无法为部分所有者取得。没有任何丢失：关于他们的内容在日志中等待，一旦可以便会自动折叠。原因见文字说明；处理方法见 docs/how-to/sealing.md。",
  ],
  "alarm.cluster_waits": ["Partitions of the cluster wait", "集群中的分区正在等待"],
  "alarm.cluster_waits.what": [
    "A partition cannot be appended to or folded now: the node of the Redis Cluster that holds it was lost, or its slot is being moved. Nothing is lost; what was refused is sent again. docs/how-to/cluster.md says how long that takes.",
    "某个分区现在无法追加或折叠：持有它的 Redis Cluster 节点已失联，或其槽正在迁移。没有任何丢失；被拒绝的内容请重新发送。所需时间见 docs/how-to/cluster.md。",
  ],
  "alarm.token_unusable": ["The token cannot be used", "令牌不可用"],
  "alarm.token_unusable.what": [
    "The API's token is gone, or others could have read it, and nobody is answered: `engramlog token --rotate` makes a new one.",
    "API 的令牌不见了，或可能被他人读取，现在不回应任何人：`engramlog token --rotate` 会生成新的令牌。",
  ],
  "alarm.accesses_lost": ["Accesses were not recorded", "访问未被记录"],
  "alarm.accesses_lost.what": [
    "Accesses were not recorded: Redis accepted no more, or too many waited. The count is the number of accesses. Answers were returned, and no memory was strengthened by them.",
    "向人显示的内容没有被记录：Redis 不再接受访问记录，或等待的超出了可保留的数量。计数以访问为单位；回答照常给出，但记忆没有因此增强。",
  ],
  "alarm.certificate_ends": ["The certificate ends soon", "证书即将到期"],
  "alarm.certificate_ends.what": [
    "The certificate by which others ask this service ends within 14 days, or has ended: renew it; new files are taken without a restart.",
    "他人访问本服务所用的证书将在 14 天内到期，或已到期：请更新证书；新文件无需重启即可生效。",
  ],
  "alarm.certificate_unreadable": ["The new certificate cannot be used", "新证书无法使用"],
  "alarm.certificate_unreadable.what": [
    "The files of the certificate changed and cannot be used: the one before stays in use until they can. The text says why.",
    "证书文件已更改但无法使用：在可用之前继续使用之前的证书。文本说明了原因。",
  ],
  "alarm.console_codes_refused": ["Codes of the console were refused", "控制台代码被拒绝"],
  "alarm.console_codes_refused.what": [
    "Many codes were shown at the console's door that open nothing: a program or a page of this machine tries to get in. They cannot be guessed, and nothing was opened: find out who it is.",
    "有人在控制台入口出示了许多无效代码：本机的某个程序或网页试图进入。代码无法猜中，也没有打开任何内容：请查明是谁。",
  ],
  "alarm.jobs_wait": ["Jobs wait", "作业在等待"],
  "alarm.jobs_wait.what": [
    "The job queue (`ENGRAMLOG_QUEUE_URL`, or the store's Redis) does not answer, or refuses: nothing is swept, deleted for good, extracted, linked or embedded. Nothing is lost: jobs go on by themselves once it answers. The text says why.",
    "作业队列（`ENGRAMLOG_QUEUE_URL`，或本存储的 Redis）没有应答或拒绝服务：不再清理、彻底删除、提取、关联或嵌入。没有丢失任何内容：一旦应答，作业会自行继续。原因见文字。",
  ],
  "alarm.job_refused": ["A foreign job was refused", "外来作业被拒绝"],
  "alarm.job_refused.what": [
    "Something lay in the job queue that was no job of this store: find out who can write to it.",
    "作业队列中出现了不属于本存储的作业：请查明谁能写入该队列。",
  ],
});
