// SPDX-License-Identifier: BSD-3-Clause
// Embedded Swift has no Codable.
#if !hasFeature(Embedded)
internal import TweakJSON

// Messages that are parts of what commands and the page print, send and record.

extension ChangedTweaks.Change: Encodable {}
extension Done: Encodable {}
extension ExplainTweak.Answer: Encodable {}
extension IneffectiveValue: Encodable {}
extension JSONLease: Encodable {}
extension JSONRamp: Encodable {}
extension JSONTweak: Codable {}
extension ListHistory.Answer: Encodable {}
extension ListHistory.Change: Codable {}
extension ListHistory.Mark: Codable {}
extension MarkHistory.Answer: Encodable {}
extension RevertChanges.Answer: Encodable {}
extension SetManyTweaks.Answer: Encodable {}
extension SetManyTweaks.Answer.Refusal: Encodable {}
extension UndoChanges.Answer: Encodable {}
#endif
