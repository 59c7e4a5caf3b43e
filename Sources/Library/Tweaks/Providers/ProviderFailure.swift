// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

#if hasFeature(Embedded)
/// An error of a provider. Embedded Swift can only throw errors of a known type.
public enum ProviderFailure: Error {
    /// The error of a tweak.
    case ofTweak(TweakError)
    /// Another error, as text.
    case other(String)
}

extension ProviderFailure: CustomStringConvertible {
    /// The error as text.
    public var description: String {
        switch self {
        case .ofTweak(let error): error.description
        case .other(let message): message
        }
    }

    /// The error of a tweak, or `nil`.
    var tweakError: TweakError? { if case .ofTweak(let error) = self { error } else { nil } }
}

/// Returns the error of a tweak as one of a provider.
func providerFailure(_ error: TweakError) -> ProviderFailure { .ofTweak(error) }

/// Returns an error as one of a provider.
func providerFailure(_ error: some Error & CustomStringConvertible) -> ProviderFailure {
    .other(error.description)
}
#else
/// An error of a provider: any error, so `throws(ProviderFailure)` means `throws`.
public typealias ProviderFailure = any Error

extension Error {
    /// The error of a tweak, or `nil`.
    var tweakError: TweakError? { self as? TweakError }
}

/// Returns an error as one of a provider.
func providerFailure(_ error: some Error & CustomStringConvertible) -> ProviderFailure { error }
#endif
