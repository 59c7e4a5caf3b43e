// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakClient

@Suite struct `A budget for answers` {
    private let budget = AnswerBudget(most: 100)

    /// Whether a share of the budget can have a size.
    private func fits(_ share: AnswerBudget.Share, _ size: Int) -> Bool {
        do throws(ConnectionError) { try share.resize(to: size) } catch {
            guard case .tooMuch(most: 100) = error else { Issue.record("\(error)"); return false }
            return false
        }
        return true
    }

    @Test func `is shared by all`() {
        let (one, other) = (AnswerBudget.Share(of: budget), AnswerBudget.Share(of: budget))
        #expect(fits(one, 60) && fits(other, 40))
        #expect(!fits(one, 61) && !fits(other, 41))
        // What was refused changes nothing.
        #expect(fits(one, 50) && fits(other, 50))
        #expect(fits(one, 0) && fits(other, 100))
        #expect(!fits(one, .max) && fits(one, 0))
    }

    @Test func `is free again without a share`() {
        let one = AnswerBudget.Share(of: budget)
        do {
            let other = AnswerBudget.Share(of: budget)
            #expect(fits(other, 100) && !fits(one, 1))
        }
        #expect(fits(one, 100))
    }
}
