// SPDX-License-Identifier: BSD-3-Clause
/// The words of C and C++ that are no names. Those of the preprocessor's conditions and of attributes are names elsewhere.
enum CKeywords {
    static let all: Set<String> = [
        "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case",
        "catch", "char",
        "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl", "concept",
        "const",
        "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype", "default", "delete",
        "do", "double",
        "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend",
        "goto", "if",
        "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
        "operator", "or",
        "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires", "restrict",
        "return",
        "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template",
        "this",
        "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "typeof", "typeof_unqual",
        "union",
        "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq", "_Alignas",
        "_Alignof",
        "_Atomic", "_BitInt", "_Bool", "_Complex", "_Decimal128", "_Decimal32", "_Decimal64", "_Generic",
        "_Imaginary",
        "_Noreturn", "_Pragma", "_Static_assert", "_Thread_local", "__asm", "__asm__", "__attribute",
        "__attribute__",
        "__builtin_va_arg", "__extension__", "__typeof", "__typeof__",
    ]
}
