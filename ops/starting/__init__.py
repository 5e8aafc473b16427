"""What would not work, told before anything is started: by the code with which `up` and `worker` themselves refuse."""
