"""What softlookup raises: one sentence of need, the real numbers, one next step.

Every class is also the built-in a caller would expect (``ValueError``, ``TypeError``,
``RuntimeError``) and carries ``argument``, the name of what was wrong, so that a command line, a
page and a notebook can point at it.
"""


class SoftlookupError(Exception):
    """The root of all errors raised on purpose by this package.

    Parameters
    ----------
    argument : str
        The name of the argument, option or file that was wrong.
    message : str
        What it must be, what came, and what to do.
    """

    def __init__(self, argument: str, message: str) -> None:
        super().__init__(f"{argument}: {message}")
        self.argument = argument
        self.message = message

    def __reduce__(self) -> tuple[type["SoftlookupError"], tuple[str, str]]:
        return type(self), (self.argument, self.message)


class ShapeError(SoftlookupError, ValueError):
    """Arrays whose shapes do not fit together."""


class OptionError(SoftlookupError, ValueError):
    """An option with a value that has no meaning, or that contradicts another one."""


class OptionNameError(OptionError, TypeError):
    """An option whose name is not known here."""


class DtypeError(SoftlookupError, TypeError):
    """An argument of a type or dtype that cannot be used here."""


class FileError(SoftlookupError, ValueError):
    """A file that cannot be read as what it should hold."""


class BackendError(SoftlookupError, RuntimeError):
    """A backend asked for by name that cannot run here, or cannot take this problem."""


class ViewError(SoftlookupError, RuntimeError):
    """A view that cannot be opened, or a request that a view cannot answer."""


class PackageError(SoftlookupError, ImportError):
    """A package that is needed and not installed, or too old."""
