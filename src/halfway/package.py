"""The version of this package, and the folder that contains it. The module imports nothing of the
package, so that every module may import it.
"""

from pathlib import Path

__version__ = "0.1.0"
PACKAGE_FOLDER = Path(__file__).parent
