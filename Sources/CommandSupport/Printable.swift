internal import TweakRecords

/// A text as it may be shown: what a terminal would take as a command is written as `\u{…}`.
public func printable(_ text: String) -> String { text.printable }

/// JSON as it may be shown: the same with `\u` and four digits.
public func printableJSON(_ json: String) -> String { json.printableJSON }
