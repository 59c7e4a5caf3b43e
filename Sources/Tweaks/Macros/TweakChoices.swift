/// The choices of a tweak, as a literal: `[1, 2, 4]`, or `[1: "low", 2: "high"]` with what a person sees.
///
/// The macros take it apart while a program is compiled; it holds nothing.
public struct TweakChoices<Value>: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// Choices that people see as they are.
    public init(arrayLiteral choices: Value...) {}
    /// Choices and what people see for them.
    public init(dictionaryLiteral choices: (Value, String)...) {}
}
