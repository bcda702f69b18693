from unhurried import no_line_of_progress  # noqa: F401
