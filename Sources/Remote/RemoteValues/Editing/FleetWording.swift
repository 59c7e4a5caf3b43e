// SPDX-License-Identifier: BSD-3-Clause
/// The words of messages that name what a person can do next.
package enum FleetWording {
    /// Whether they are for a page, whose readers see buttons and no command line.
    @TaskLocal package static var isOfPage = false

    /// Words for a command line, or those for a page.
    package static func choose(_ command: String, page: String = "") -> String { isOfPage ? page : command }
}
