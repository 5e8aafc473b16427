"""What `make test` runs: everything that is quick. What `make test-ci` runs: the slow tests that guard a main promise.

A slow test stands here for what it guards, not for how long it takes. `tests/architecture/test_promises.py` holds the list to the
tests that there are.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

QUICK = ("unit", "property", "golden", "contract", "architecture", "acceptance/docs/test_docs.py")
"""Where everything is quick, as paths below `tests`: `make test`."""
SLOW = ("integration", "client", "acceptance", "browser", "benchmarks")
"""Where tests start servers, processes and commands."""
NEWER = ("redis-7", "redis-8")
"""What the same slow test asks of these servers belongs to the rest: that all are the same to us is the contract suite's."""
NIGHTLY = "redis-8"
"""The server of tests that neither `make test` nor `make test-ci` runs, quick or not."""


class Promise(NamedTuple):
    """What is promised, and the slow tests that show it, as a file below `tests` and the name of a function in it."""

    holds: str
    tests: tuple[str, ...]


PROMISES = (
    Promise(
        "what was acknowledged outlives the kill of a worker, of a command and of the whole service",
        (
            "integration/consumers/fold/test_workers.py::test_a_killed_worker_s_partitions_are_taken_over_within_seconds_and_nothing_is_lost",
            "acceptance/commands/test_cli_processes.py::test_what_a_killed_process_appended_is_found_by_the_next_command_that_only_reads",
            "acceptance/commands/test_cli_processes.py::test_an_import_killed_half_way_is_made_whole_by_the_next_one",
            "integration/ops/test_up.py::test_a_killed_up_leaves_no_process_and_no_event_behind",
        ),
    ),
    Promise(
        "an acknowledged event that is gone is told, and nothing is appended after it",
        (
            "integration/events/test_receipts_kept.py::test_an_acknowledged_event_that_is_gone_is_an_alarm_and_nothing_is_appended_after_it",
            "integration/events/test_receipts_kept.py::test_data_that_go_back_under_a_connection_that_lives_are_noticed_before_anything_is_written",
            "integration/events/test_gaps.py",
        ),
    ),
    Promise(
        "a rebuild while others append ends in the same state, and so does one that was killed",
        (
            "integration/consumers/fold/test_rebuild.py::test_a_rebuild_while_producers_append_ends_in_the_same_state_under_a_new_name",
            (
                "integration/consumers/fold/test_rebuild_left.py::test_a_rebuild_killed_anywhere_is_gone_on_with_and_ends_in_the_same_state"
                "[valkey-between prefetch and commit-1]"
            ),
        ),
    ),
    Promise(
        "an erasure that was killed is ended by the next one, and a restore too",
        (
            (
                "integration/erasure/test_killed.py::test_killed_behind_the_fence_nothing_is_said_or_read_and_the_next_run_ends_it"
                "[valkey-between prefetch and commit]"
            ),
            (
                "integration/erasure/words/test_words_killed.py::test_killed_anywhere_and_called_again_it_ends_as_if_it_had_not_been"
                "[between prefetch and commit]"
            ),
            (
                "integration/backup/test_killed.py::test_a_restore_is_gone_on_with_from_wherever_it_was_killed_and_nothing_opens_it_meanwhile"
                "[sealed]"
            ),
        ),
    ),
    Promise(
        "what users, documents and tools say is told apart, and none of them changes what is known beyond his right",
        (
            "acceptance/trust/test_correction.py",
            "acceptance/trust/test_deletion.py",
            "acceptance/trust/test_evidence.py",
            "acceptance/trust/test_gateway.py",
            "acceptance/trust/test_obedience.py",
            "acceptance/trust/test_rejection.py",
            "acceptance/trust/test_retrieval.py",
            "acceptance/trust/test_said_again.py",
            "acceptance/trust/test_scope.py",
            "acceptance/trust/test_set_aside.py",
            "acceptance/trust/test_two_numbers.py",
        ),
    ),
    Promise(
        "what is watched tells what happened, and of nobody",
        (
            "integration/ops/test_metrics.py::test_requests_are_counted_by_route_and_status_and_no_label_has_a_path",
            "integration/ops/test_metrics.py::test_what_workers_folded_is_the_sum_of_what_each_tells",
            "integration/ops/test_metrics.py::test_the_board_and_the_rules_ask_for_what_running_processes_tell",
            "integration/api/auditing/test_owner_figures.py::test_each_figure_counts_what_happened_once",
            "integration/api/auditing/test_owner_figures.py::test_of_a_past_what_had_happened_then_is_counted",
        ),
    ),
    Promise(
        "what is sent twice is written once, whoever sends it and at the same time",
        (
            "integration/api/faces/test_keys.py::test_a_call_made_again_under_its_key_writes_nothing_more_and_answers_as_it_did_and_its_key_stands_for_nothing_else",
            "integration/api/faces/test_keys.py::test_equal_calls_at_once_are_one",
            "acceptance/commands/test_cli_processes.py::test_two_imports_of_one_file_at_once_append_it_once",
        ),
    ),
    Promise(
        "what was deleted is told by no face, and once purged it is nowhere but in the log",
        (
            "integration/api/faces/test_deleted_words_everywhere.py::test_a_face_tells_the_words_while_they_stand_and_not_afterwards",
            "integration/api/faces/test_deleted_words_everywhere.py::test_nothing_but_the_log_holds_the_words_once_they_are_purged",
        ),
    ),
    Promise(
        "a verification finds what was changed, taken away or put there",
        (
            "integration/consumers/verify/test_verify.py::test_every_flip_of_a_bit_is_found_in_every_kind_of_key",
            "integration/consumers/verify/test_verify.py::test_what_was_taken_away_or_put_there_is_found_as_well",
            "integration/consumers/fold/test_rebuild.py::test_verify_finds_a_lost_change_log_a_lost_owner_and_a_changed_event",
        ),
    ),
    Promise(
        "a store that lay open is sealed without a loss, no word of it lies open, and nothing opens it before",
        (
            "integration/encryption/test_seal.py::test_no_word_lies_open_and_events_chains_digests_and_records_are_the_same",
            (
                "integration/encryption/test_seal.py::test_a_sealing_killed_anywhere_goes_on_and_ends_the_same"
                "[valkey-before a partition is noted-1]"
            ),
            "integration/encryption/test_seal_command.py::test_no_file_of_the_folder_holds_a_word_and_every_answer_is_the_same",
        ),
    ),
    Promise(
        "every face answers, and answers the same",
        (
            "integration/api/faces/test_said_at_every_face.py::test_one_thing_remembered_is_the_same_memory_at_every_face",
            "integration/api/faces/test_known.py::test_every_route_answers_on_both_lines",
            "integration/api/faces/test_known.py::test_every_command_answers_on_both_lines",
            "integration/ops/test_up.py::test_what_http_appends_a_command_finds_and_an_interrupt_stops_everything_in_order",
            "integration/api/test_every_face.py",
            "client/test_examples.py::test_the_five_lines_end_with_a_block_that_has_the_right_fact",
        ),
    ),
    Promise(
        "a secret is shown by no face that was not asked for it",
        ("integration/api/faces/test_secrets_beside_content.py", "integration/api/faces/test_revealing.py"),
    ),
    Promise(
        "a store of an earlier release opens, verifies, answers of the past as before and takes new events",
        ("integration/ops/test_release_stores.py",),
    ),
    Promise("a command loads what it needs, a process that stays all of it", ("integration/ops/test_joined.py",)),
    Promise(
        "the commands of the README do what the README shows",
        (
            "acceptance/docs/test_readme.py::test_every_command_of_a_page_succeeds_and_shows_what_the_page_shows[README.md]",
        ),
    ),
)
"""A test without a function's name stands for all of its file, a function without parameters for all of them."""


@cache
def guarding() -> frozenset[str]:
    """The slow tests that `make test-ci` runs."""
    return frozenset(test for promise in PROMISES for test in promise.tests)


def is_quick(path: str, name: str = "") -> bool:
    """Whether a file below `tests`, or a test in it, is quick; tests on Redis 8 are for the nightly run."""
    return NIGHTLY not in name.partition("[")[2] and any(
        path == place or path.startswith(f"{place}/") for place in QUICK
    )


def guards(path: str, name: str) -> bool:
    """Whether a slow test guards a promise: by its file, its function or with its parameters, on the server that is bundled."""
    if any(newer in name.partition("[")[2] for newer in NEWER):
        return False
    return not guarding().isdisjoint({path, f"{path}::{name.partition('[')[0]}", f"{path}::{name}"})
