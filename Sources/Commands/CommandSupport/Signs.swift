// SPDX-License-Identifier: BSD-3-Clause
internal import TweakSystem

/// Whether the encoding of the locale is UTF-8; `nil` if the environment names no locale.
package let isLocaleUnicode: Bool? = {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment($0)?.lowercased() }.first
    // A modifier may follow, as in de_DE.UTF-8@euro.
    return locale.map { $0.prefix { $0 != "@" } }.map { $0.hasSuffix("utf-8") || $0.hasSuffix("utf8") }
}()

/// Signs in text for people.
package struct Signs: Sendable {
    package let arrow, ellipsis, atLeast, atMost: String

    package static let unicode = Signs(arrow: "→", ellipsis: "…", atLeast: "≥", atMost: "≤")
    private static let ascii = Signs(arrow: "->", ellipsis: "...", atLeast: ">=", atMost: "<=")

    /// The signs that the locale can show. Without a locale, as for a service, a terminal or a file has UTF-8.
    package static let shown = isLocaleUnicode == false ? ascii : unicode
}
