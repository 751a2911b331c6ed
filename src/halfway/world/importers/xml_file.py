"""Reader of XML files by elements: no document types, no entities; errors give line and column."""

import math
from pathlib import Path
from xml.parsers import expat

from halfway.problem import Problem
from halfway.world.importers.file_content import content

_TRUNCATED = {
    expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS],
    expat.errors.codes[expat.errors.XML_ERROR_UNCLOSED_TOKEN],
    expat.errors.codes[expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION],
}
_SPACE = " "  # between the namespace and the name of an element


class XmlReader:
    """An XML parser (expat). A reader of a format overrides `started` and `ended`.

    We refuse document types, because their entities can expand to any size.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.inside: list[str] = []  # the open elements, without namespaces
        self._text: list[str] = []  # of the element that began last
        self._parser = expat.ParserCreate(namespace_separator=_SPACE)
        self._parser.StartElementHandler = self._started
        self._parser.EndElementHandler = self._ended
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._doctype

    def started(self, kind: str, given: dict[str, str]) -> None:
        """Handle the start of an XML element; `inside` has the elements around it."""

    def ended(self, kind: str, text: str) -> None:
        """Handle the end of an XML element, with the text after its last start tag."""

    def read(self) -> None:
        """Read the XML file. Raises Problem with line and column."""
        try:
            self._parser.Parse(content(self.path), True)
        except expat.ExpatError as error:
            place = f"{self.path}:{error.lineno}:{error.offset + 1}"
            reason = expat.ErrorString(error.code)
            what = f"invalid XML: {reason.removeprefix('not well-formed').strip(' ()') or reason}"
            if self.inside and error.code in _TRUNCATED:
                what = f"the file is truncated inside <{self.inside[-1]}>"
            raise Problem(what, where=place, remedy="correct the file at this place") from None
        except (LookupError, ValueError) as error:  # an unknown encoding
            what = f"the XML is not readable ({error}): expected a known encoding, such as UTF-8"
            raise Problem(what, where=self.here()) from None

    @property
    def line(self) -> int:
        """The line of the XML file that is read now."""
        return self._parser.CurrentLineNumber

    def here(self) -> str:
        """Return the place in the XML file: file:line:column."""
        line, column = self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1
        return f"{self.path}:{line}:{column}"

    def attribute(self, kind: str, name: str, given: dict[str, str]) -> str:
        """Return an attribute of an XML element; Problem if it is missing or empty."""
        if not given.get(name):
            raise Problem(f"<{kind}> without {name}: expected this attribute", where=self.here())
        return given[name]

    def finite_number(self, name: str, text: str, owner: str = "") -> float:
        """Return a finite number of the XML file; `owner` names its element in errors."""
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            what = f"{name} = '{text.strip()[:40]}'{owner}: expected a number"
            raise Problem(what, where=self.here())
        return value

    def _started(self, element: str, given: dict[str, str]) -> None:
        kind = element.rsplit(_SPACE, 1)[-1]
        self.started(kind, given)
        self.inside.append(kind)
        self._text = []

    def _ended(self, _element: str) -> None:
        kind = self.inside.pop()
        self.ended(kind, "".join(self._text))
        self._text = []

    def _characters(self, text: str) -> None:
        self._text.append(text)

    def _doctype(self, *_declared: object) -> None:
        remedy = "remove the line <!DOCTYPE …>"
        raise Problem(
            "the file has a document type: expected none", where=self.here(), remedy=remedy
        )
