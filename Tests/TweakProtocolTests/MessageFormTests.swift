// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakJSON
import TweakProtocol

// Parts of messages with all their members.

private let lease = #"{"by":"tweak 4711 ada","hiddenValue":1,"remaining":2.5}"#
private let ramp = #"{"remaining":0.5,"target":3}"#
private let ineffective =
    #"{"gate":"A","lease":\#(lease),"pendingValue":2,"source":"lease","tweak":"A/B/C","value":1}"#
private let restored = #"{"newValue":null,"oldValue":[1],"tweak":"A/B/C"}"#
private let program =
    #"{"application":"a","executable":"/a","methods":["get"],"overrides":"/o","pid":7,"protocol":1,"tweaks":3,"version":"1"}"#
private let tweak =
    #"{"category":"A","choices":[{"label":"one","value":1},{"value":2}],"collection":"B","default":1,"gate":"A","#
    + #""introducedBy":"p","lease":\#(lease),"maximum":"inf","minimum":0,"monitor":true,"name":"C","#
    + #""overwrittenValue":4,"pendingValue":3,"ramp":\#(ramp),"readOnly":true,"source":"lease","step":0.5,"tweak":"A/B/C","#
    + #""type":"double","unit":"kg","value":2.5}"#
private let opinion =
    #"{"error":"e","given":2,"lease":\#(lease),"location":"l","source":"s","value":1}"#
private let historyChange =
    #"{"by":"b","endsLease":true,"isOfLease":true,"isPending":true,"isShortened":true,"monotonicTime":2.5,"newValue":2,"#
    + #""number":1,"oldValue":1,"person":"p","ramp":1.5,"source":"s","time":1.5,"tweak":"A/B/C","undoes":3}"#
private let mark = #"{"by":"b","name":"n","number":1,"person":"p","time":5.5}"#
private let changed =
    #"{"clampedTo":"minimum","gate":"A","givenValue":4,"isReadOtherwise":true,"lease":\#(lease),"newValue":3,"#
    + #""oldPendingValue":2,"oldSource":"default","oldValue":1,"pendingValue":5,"ramp":\#(ramp),"source":"lease","#
    + #""tweak":"A/B/C","waitsFor":"gate"}"#
private let refusal =
    #"{"allowed":"a","index":0,"kind":"unknownTweak","message":"m","nearest":["A/B/C"],"tweak":"A/B/D"}"#

@Suite struct `The JSON of each message` {
    /// Checks that a message writes all that it has read, in the same order.
    private func check<Message: JSONReadable & JSONWritable>(
        _ type: Message.Type, _ json: String, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let message = try Message(json: JSONParser.value(of: Array(json.utf8)))
        #expect(String(decoding: message.json(), as: UTF8.self) == json, sourceLocation: location)
        for member in Mirror(reflecting: message).children {
            let value = Mirror(reflecting: member.value)
            let isThere = value.displayStyle != .optional || !value.children.isEmpty
            #expect(isThere, "\(member.label ?? "") is not tested", sourceLocation: location)
        }
    }

    private func check<Method: ControlMethod>(
        _ method: Method.Type, _ parameters: String, answer: String,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        try check(method, parameters, location)
        try check(Method.Answer.self, answer, location)
        guard case .object(let members) = try JSONParser.value(of: Array(parameters.utf8)) else { return }
        #expect(members.keys.sorted() == Method.parameters.sorted(), sourceLocation: location)
    }

    @Test func `has all members, sorted by name`() throws {
        let done = #"{"handedTo":"queue"}"#
        try check(DescribeProgram.self, "{}", answer: program)
        try check(
            ListTweaks.self, #"{"category":"A","collection":"B"}"#, answer: #"{"tweaks":[\#(tweak)]}"#)
        try check(
            ChangeTweaks.self,
            #"{"allOrNothing":true,"changes":[{"reset":true,"text":"1","tweak":"mass","value":null}],"#
                + #""describing":true,"dryRun":true,"exactNames":true,"for":3,"ramp":2,"resettingOthers":true,"#
                + #""tag":"t","until":"closed"}"#,
            answer:
                #"{"changes":[\#(changed)],"ineffective":[\#(ineffective)],"number":3,"program":\#(program),"#
                + #""refused":[\#(refusal)],"tweaks":[\#(tweak)]}"#)
        try check(
            SetTweak.self,
            #"{"for":3,"ramp":2,"text":"1","tweak":"A/B/C","until":"closed","value":1}"#,
            answer: #"{"lease":\#(lease),"pendingValue":2,"ramp":\#(ramp),"source":"lease","tweak":"A/B/C","#
                + #""value":1,"wasClamped":true}"#)
        try check(
            ResetTweaks.self,
            #"{"all":true,"category":"A","collection":"B","leases":"own","tweak":"A/B/C"}"#,
            answer: #"{"ineffective":[\#(ineffective)],"reset":2}"#)
        try check(
            SetManyTweaks.self,
            #"{"allOrNothing":true,"for":3,"ramp":2,"resettingOthers":true,"until":"closed","#
                + #""values":{"A":{"B":{"C":1,"D":2},"E":{"F":null}}}}"#,
            answer: #"{"applied":["A/B/C"],"clamped":["A/B/C"],"ineffective":[\#(ineffective)],"#
                + #""refused":[{"message":"m","tweak":"A/B/C"}],"unknown":["A/B/D"]}"#)
        try check(RunAction.self, #"{"tweak":"A/B/C","wait":true}"#, answer: done)
        try check(SubscribeToChanges.self, #"{"tweaks":["A/B/C"]}"#, answer: #"{"subscription":1}"#)
        try check(
            SampleTweaks.self, #"{"rate":10.5,"tweaks":["A/B/C"]}"#,
            answer: #"{"subscription":1,"types":["double"]}"#)
        try check(UnsubscribeFromChanges.self, #"{"subscription":1}"#, answer: done)
        try check(
            ExplainTweak.self, #"{"tweak":"A/B/C"}"#,
            answer:
                #"{"gate":{"lastPassed":2.5,"name":"A","pendingValue":1,"waitingSince":1.5},"opinions":[\#(opinion)],"#
                + #""silent":[\#(opinion)],"source":"s","tweak":"A/B/C","value":1}"#)
        try check(
            ListHistory.self, #"{"limit":5,"since":0}"#,
            answer: #"{"changes":[\#(historyChange)],"first":1,"last":2,"marks":[\#(mark)]}"#)
        try check(
            UndoChanges.self, #"{"number":3}"#,
            answer: #"{"changes":[\#(restored)],"first":1,"ineffective":[\#(ineffective)],"last":2}"#)
        try check(
            RevertChanges.self, #"{"mark":"calm"}"#,
            answer: #"{"changes":[\#(restored)],"ineffective":[\#(ineffective)]}"#)
        try check(MarkHistory.self, #"{"name":"calm"}"#, answer: #"{"number":4}"#)
        try check(ReadAdopted.self, #"{"again":true}"#, answer: done)
        try check(GetTweak.self, #"{"tweak":"A/B/C"}"#, answer: tweak)
        try check(
            ChangedTweaks.self,
            #"{"changes":[{"by":"b","newValue":2,"number":3,"oldValue":1,"source":"s","tag":"t","time":1.5,"#
                + #""tweak":"A/B/C"}],"subscription":1}"#)
        try check(
            ControlError.self, #"{"code":1,"data":{"allowed":"a","nearest":["A/B/C"]},"message":"m"}"#)
        try check(ControlWarning.self, #"{"keptAs":"/k","kind":"noLock","message":"m","path":"/p"}"#)
    }

    @Test func `has its own names in requests and answers, sorted, too`() {
        func text(_ line: [UInt8]) -> String { String(decoding: line, as: UTF8.self) }
        #expect(
            text(UndoChanges(number: 3).request(id: .text("a"), person: "Ann"))
                == #"{"id":"a","jsonrpc":"2.0","method":"undo","params":{"number":3},"person":"Ann"}"# + "\n")
        #expect(
            text(ControlAnswer(MarkHistory.Answer(number: 4), to: .number(1)).line())
                == #"{"id":1,"jsonrpc":"2.0","result":{"number":4}}"# + "\n")
        #expect(
            text(ControlAnswer(Done(handedTo: "queue"), to: .number(1)).line(warnings: [.init(.noLock, "m")]))
                == #"{"id":1,"jsonrpc":"2.0","result":{"handedTo":"queue","warnings":[{"kind":"noLock","message":"m"}]}}"#
                + "\n")
        #expect(
            text(ControlAnswer<Done>(error: ControlError(.busy, "m"), to: .unknown).line())
                == #"{"error":{"code":4,"message":"m"},"id":null,"jsonrpc":"2.0"}"# + "\n")
    }

    @Test func `is read by the method of its name`() throws {
        for method in ControlMethodName.allCases {
            let line = #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":{"other":1}}"#
            guard case .failure(let error) = ControlRequest(line: Array(line.utf8)).call else {
                Issue.record("\(method) takes any parameter")
                continue
            }
            #expect(error.message.hasPrefix("\(method) has no parameter \"other\"; allowed: "))
        }
    }
}
