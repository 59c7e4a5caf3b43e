#if Macros
/// Whether a feature, or a part of one, is switched on.
///
///     if #feature("Sound", default: true) && #feature("Sound", part: "Bass", default: false) { … }
///
/// It is the Bool tweak `Features/Sound/enabled`, or `Features/Sound/Bass`; the names of parts of parts are in one string, with slashes
/// between them. A part is meant to be on only if the feature is, as the expression above says and
/// ``TweakStore/isFeatureEnabled(_:_:)`` does by itself.
///
/// - Parameters:
///   - feature: The feature, a string literal.
///   - part: The part of it, a string literal.
///   - default: Whether it is on unless somebody says otherwise.
///   - description: What it is, for a person, a string literal.
///   - owner: Who looks after it, a string literal.
///   - expires: The last day for which it is meant, as `YYYY-MM-DD`.
@freestanding(expression)
public macro feature(
    _ feature: String, part: String? = nil, default: Bool, description: String? = nil, owner: String? = nil,
    expires: String? = nil
) -> Bool = #externalMacro(module: "TweakMacros", type: "FeatureMacro")
#endif
