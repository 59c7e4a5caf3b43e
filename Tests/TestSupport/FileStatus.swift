// SPDX-License-Identifier: BSD-3-Clause
public import Foundation

/// What the file system says about a file, or about a link itself.
///
/// By Foundation: where Dispatch is imported too, Swift sometimes does not find the members of C's `stat`.
public struct FileStatus: Sendable {
    /// The number that another file of the same name does not have.
    public let inode: UInt64
    /// The rights, without the type.
    public let mode: Int
    /// Whether it is a symbolic link.
    public let isLink: Bool
    /// When its content changed last.
    public let modified: Date?

    /// Asks; `nil` if there is no such file.
    public init?(_ path: String) {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return nil }
        inode = (attributes[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0
        mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
        isLink = attributes[.type] as? FileAttributeType == .typeSymbolicLink
        modified = attributes[.modificationDate] as? Date
    }
}
