// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakRecords

@Suite struct `Requirements of declarations` {
    private static func number(
        _ value: TweakValue, _ minimum: TweakValue? = nil, _ maximum: TweakValue? = nil,
        step: TweakValue? = nil, choices: [TweakChoice] = [], type: TweakType = .int32
    ) -> TweakDeclaration {
        TweakDeclaration(
            key: TweakKey("A", "B", "C"), type: type, defaultValue: value, minimum: minimum, maximum: maximum,
            step: step, choices: choices)
    }

    @Test(arguments: [
        number(5), number(5, 5, 5), number(5, 0), number(5, nil, 9, step: 1),
        number(5, choices: [TweakChoice(5)]), number(0.5, 0.0, 1.0, step: 0.1, type: .double),
        number("a", choices: [TweakChoice("a")], type: .string), number(true, type: .bool),
        number(.nothing, type: .action),
    ])
    func `A valid declaration has no problem`(declaration: TweakDeclaration) {
        #expect(declaration.problem == nil)
    }

    @Test(arguments: [
        (number("a", "a", type: .string), DeclarationProblem.limitsOfNoNumber),
        (number(true, step: 1, type: .bool), .limitsOfNoNumber),
        (number(true, choices: [TweakChoice(true)], type: .bool), .choicesOfOtherType),
        (number(5, 0, choices: [TweakChoice(5)]), .limitsAndChoices),
        (number(5, 9, 1), .limitsOutOfOrder),
        (number(0.5, .double(.nan), 1.0, type: .double), .limitsOutOfOrder),
        (number(5, step: 0), .noStep),
        (number(0.5, step: -0.1, type: .double), .noStep),
        (number(0.5, step: .double(.nan), type: .double), .noStep),
        (number(5, 6), .badDefault(allowed: "an integer from 6 to 2147483647")),
        (number(5, nil, 4), .badDefault(allowed: "an integer from -2147483648 to 4")),
        (number("a", choices: [TweakChoice("b")], type: .string), .badDefault(allowed: "one of \"b\"")),
    ])
    func `An invalid declaration has one`(declaration: TweakDeclaration, problem: DeclarationProblem) {
        #expect(declaration.problem == problem)
    }
}
