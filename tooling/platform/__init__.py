"""What every room uses, without a domain of its own: errors, files, processes, pinned versions.

    errors, exit_codes     an error with what, where, why and what to try; the exit statuses of the commands
    suggestions            the nearest known name to a misspelled one
    processes, workers     child processes that end with the tool; work distributed over several processes
    cores, gc_pause        the number of cores that a command may use; a pause of the garbage collector
    atomic_write           a file is written as a whole or not at all
    state_file             versioned JSON, moved aside when it is damaged
    regular_files          untrusted files, read only if they are regular
    output_folder          folders that a command writes as a whole
    git_command            git commands that execute no program of a checkout
    pins                   the pinned versions

The modules import `tooling.text` and each other only.
"""
