"""Libraries from an index: which versions there are, which fit together, where they come from, what is installed.

`index` reads the index, `resolve` chooses versions, `origins` gets archives, `unpacking` opens them, `installing` does
it all, `library_folder` is the user's folder, `lock` the lock file.  Only what every command needs is imported here.
"""

from kilohertz.packages.library_folder import Installed, Store, user_folder

__all__ = ["Installed", "Store", "user_folder"]
