"""What can be typed: the table of commands, their options, and the parser; `tooling.cli` has what runs.

    fields             the kinds of arguments that an option class may declare
    options            the options of every command: type, default, help and choices
    learner_options    those of the commands that lead a reader through the puzzles
    parser             argparse in the reader's language, from a class of options
    commands           the table of commands, and the way from a command line to a row of it

The book checks the commands that pages show with this package, and so it is below the book.
"""
