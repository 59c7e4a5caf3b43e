// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

#if hasFeature(Embedded)
/// An error of a provider. Embedded Swift can only throw errors of a known type.
public enum ProviderFailure: Error {
    /// The error of a tweak.
    case ofTweak(TweakError)
    /// Another error, in words.
    case other(String)
}

extension ProviderFailure: CustomStringConvertible {
    /// The error in words.
    public var description: String {
        switch self {
        case .ofTweak(let error): error.description
        case .other(let message): message
        }
    }

    /// The error of a tweak, or `nil`.
    var tweakError: TweakError? { if case .ofTweak(let error) = self { error } else { nil } }
}

/// The error of a tweak as one of a provider.
func providerFailure(_ error: TweakError) -> ProviderFailure { .ofTweak(error) }

/// An error as one of a provider.
func providerFailure(_ error: some Error & CustomStringConvertible) -> ProviderFailure {
    .other(error.description)
}
#else
/// An error of a provider, which is any error: `throws(ProviderFailure)` is `throws`.
public typealias ProviderFailure = any Error

extension Error {
    /// The error of a tweak, or `nil`.
    var tweakError: TweakError? { self as? TweakError }
}

/// An error as one of a provider.
func providerFailure(_ error: some Error & CustomStringConvertible) -> ProviderFailure { error }
#endif
