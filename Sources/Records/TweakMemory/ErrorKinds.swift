// SPDX-License-Identifier: BSD-3-Clause
package import TweakELF
package import TweakFailures

// The library reads ELF files, too, and has no use for the kinds of errors.
extension ELFError: ClassifiedError {
    package var kind: FailureKind { if case .cannotOpen = self { .missing } else { .invalid } }
}
