internal import Glibc

/// A text that stands out where it is printed: bold on a terminal, unless `NO_COLOR` is in the environment.
///
/// Source of the variable: https://no-color.org.
public func emphasized(_ text: String) -> String { isEmphasisShown ? "\u{1B}[1m\(text)\u{1B}[m" : text }

private let isEmphasisShown: Bool = {
    guard isatty(STDOUT_FILENO) == 1 else { return false }
    if let value = getenv("NO_COLOR"), value.pointee != 0 { return false }
    return getenv("TERM").map { strcmp($0, "dumb") != 0 } ?? false
}()
