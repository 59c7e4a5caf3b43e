// SPDX-License-Identifier: BSD-3-Clause
/// The language of a source, which decides how its literals are written.
package enum SourceLanguage: Sendable {
    /// C or C++.
    case c
    case swift

    /// The language of a file, by its name.
    package init(path: String) { self = path.lowercased().hasSuffix(".swift") ? .swift : .c }
}
