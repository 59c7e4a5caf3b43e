// SPDX-License-Identifier: BSD-3-Clause
package import CommandSupport
package import TweakOverrides
package import TweakProtocol

// The library throws these errors too, but has no use for their kinds.

extension OverridesError: ClassifiedError {
    package var kind: FailureKind { if case .corrupt = self { .invalid } else { .inputOutput } }
}

extension ControlError: ClassifiedError {
    package var kind: FailureKind {
        switch code {
        case .unknownTweak, .refused, .noAction, .notUndone: .invalid
        case .busy: .busy
        case .notKept: .inputOutput
        case .unknownMethod, .notRun: .unavailable
        default: .garbled
        }
    }
}
