// SPDX-License-Identifier: BSD-3-Clause
public import Foundation

/// A directory that is gone with its last reference.
public final class TemporaryDirectory: Sendable {
    /// Where it is.
    public let url: URL
    /// Where it is, as a path.
    public var path: String { url.path }

    /// Makes an empty directory.
    public init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent(
            "tweaks-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The path of a file or directory in it.
    public func callAsFunction(_ name: String) -> String { url.appendingPathComponent(name).path }

    /// Writes a file and returns its path. Directories above it are made.
    @discardableResult
    public func write(_ name: String, _ text: String) throws -> String { try write(name, Data(text.utf8)) }

    /// Writes a file and returns its path. Directories above it are made.
    @discardableResult
    public func write(_ name: String, _ data: Data) throws -> String {
        let file = url.appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
        return file.path
    }
}
