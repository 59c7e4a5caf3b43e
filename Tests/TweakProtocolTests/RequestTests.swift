// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakJSON
import TweakProtocol
import TweakRecords

@Suite struct `A request` {
    private let key = TweakKey("Spring", "Physics", "Mass")

    private func request(_ json: String) -> ControlRequest { ControlRequest(line: Array(json.utf8)) }

    private func code(_ json: String) -> ControlError.Code? {
        if case .failure(let error) = request(json).call { error.code } else { nil }
    }

    private func message(_ json: String) -> String {
        if case .failure(let error) = request(json).call { error.message } else { "" }
    }

    @Test func `Each method survives encoding`() throws {
        func check<Method: ControlMethod>(_ method: Method) throws {
            let line = method.request(id: .number(7))
            #expect(line.last == UInt8(ascii: "\n"))
            let read = ControlRequest(line: line.dropLast())
            #expect(read.id == .number(7))
            #expect(try members(read.parameters) == members(method))
        }
        let (list, get) = (ListTweaks(category: "Spring"), GetTweak(tweak: key))
        let (set, typed) = (SetTweak(tweak: key, value: .scalar(1.5)), SetTweak(tweak: key, text: "1.5"))
        let (reset, run) = (ResetTweaks(category: "A", collection: "B"), RunAction(tweak: key))
        // Composed and decomposed letters are different names.
        let many = SetManyTweaks(
            values: [
                TweakKey("A", "B", "\u{e9}"): .scalar(true), TweakKey("A", "B", "e\u{301}"): .scalar(false),
            ],
            resettingOthers: true, allOrNothing: true)
        #expect(many.values.count == 2)
        let (subscribe, unsubscribe) = (
            SubscribeToChanges(tweaks: [key]), UnsubscribeFromChanges(subscription: 3)
        )
        try check(DescribeProgram())
        try check(list)
        try check(get)
        try check(set)
        try check(typed)
        try check(reset)
        try check(many)
        try check(run)
        try check(subscribe)
        try check(unsubscribe)
        try check(ExplainTweak(tweak: key))
        try check(
            ChangeTweaks(
                [
                    .init(tweak: "mass", text: "+=1"), .init(tweak: "Spring/Physics/Mass", value: .null),
                    .init(tweak: "mass", reset: true),
                ],
                resettingOthers: true, allOrNothing: false, dryRun: true, describing: true, tag: "a drag",
                SetDurations(until: .closed, for: 3, ramp: 2)))
    }

    @Test func `Parameters may be missing if all are optional`() throws {
        let read = request(#"{"jsonrpc": "2.0", "id": "x", "method": "list"}"#)
        #expect(read.id == .text("x"))
        #expect(try members(read.parameters) == members(ListTweaks()))
    }

    @Test func `A request may have no id`() throws {
        let read = request(#"{"jsonrpc": "2.0", "method": "describe"}"#)
        #expect(read.id == nil)
        #expect(try members(read.parameters) == members(DescribeProgram()))
    }

    @Test func `A request names the person, in at most 160 bytes`() throws {
        let longest = String(repeating: "é", count: 80)
        for person in [nil, "", "Ann", longest] {
            let line = DescribeProgram().request(id: .number(1), person: person)
            #expect(ControlRequest(line: line.dropLast()).person == person)
        }
        let line = DescribeProgram().request(id: .number(1), person: longest + "x")
        #expect(code(String(decoding: line, as: UTF8.self)) == .invalidRequest)
        #expect(code(#"{"jsonrpc": "2.0", "id": 1, "method": "describe", "person": 7}"#) == .invalidRequest)
    }

    @Test(arguments: ["", "{", "nonsense", "{\"a\": \u{0}}", "{} {}", "\u{FEFF}{"])
    func `Anything but JSON is a parse error`(json: String) {
        #expect(code(json) == .parse)
        #expect(request(json).id == .unknown)
    }

    @Test func `JSON that is nested too deep is a parse error`() {
        let deep = String(repeating: "[", count: 101) + String(repeating: "]", count: 101)
        #expect(code(#"{"jsonrpc": "2.0", "id": 1, "method": "set", "params": \#(deep)}"#) == .parse)
        #expect(code(String(repeating: "[", count: 100_000)) == .parse)
    }

    @Test(arguments: [
        "[]", "5", "null", "\"x\"", "{}", #"{"id": 1, "method": "list"}"#,
        #"{"jsonrpc": "1.0", "id": 1, "method": "list"}"#, #"{"jsonrpc": "2.0", "id": 1}"#,
        #"{"jsonrpc": "2.0", "id": 1, "method": 5}"#, #"{"jsonrpc": "2.0", "id": null, "method": "list"}"#,
        #"{"jsonrpc": "2.0", "id": 1.5, "method": "list"}"#,
        #"{"jsonrpc": "2.0", "id": [], "method": "list"}"#,
        #"[{"jsonrpc": "2.0", "id": 1, "method": "list"}]"#,
    ])
    func `JSON that is not a request is invalid`(json: String) { #expect(code(json) == .invalidRequest) }

    @Test func `An error has the id of its request`() {
        #expect(request(#"{"jsonrpc": "2.0", "id": 9, "method": "fly"}"#).id == .number(9))
        #expect(code(#"{"jsonrpc": "2.0", "id": 9, "method": "fly"}"#) == .unknownMethod)
        #expect(request(#"{"jsonrpc": "2.0", "id": 9, "method": "get"}"#).id == .number(9))
    }

    @Test(arguments: [
        (#""get""#, #""tweak" is missing"#), (#""get", "params": []"#, #""params" is not an object"#),
        (#""get", "params": {"tweak": 5}"#, "params.tweak"),
        (#""get", "params": {"tweak": "A/B"}"#, "Category/Collection/Name"),
        (#""get", "params": {"tweak": null}"#, "params.tweak"),
        (#""get", "params": {"tweak": "A/B/C", "twaek": 1}"#, #"no parameter "twaek"; allowed: tweak"#),
        (#""describe", "params": {"x": 1}"#, "allowed: none"),
        (
            #""change", "params": {"changes": [{"tweak": "a", "vaule": 1}]}"#,
            #""params.changes.0" has no member "vaule"; allowed: tweak, value, text, reset"#
        ),
        (
            #""set", "params": {"tweak": "A/B/C", "value": 1, "until": "later"}"#,
            #""params.until": "later" is unknown; allowed: closed"#
        ),
        (#""setMany", "params": {"values": {"A": {"B": 5}}}"#, "params.values.A.B"),
        (#""unsubscribe", "params": {"subscription": "1"}"#, "params.subscription"),
        (#""set", "params": {"tweak": "A/B/C", "value": 1, "for": null}"#, "params.for is null"),
        (#""set", "params": {"tweak": "A/B/C", "value": 1, "until": null}"#, "params.until is null"),
        (#""set", "params": {"tweak": "A/B/C", "value": 1, "ramp": null}"#, "params.ramp is null"),
        (#""set", "params": {"tweak": "A/B/C", "value": null, "text": "1"}"#, "params.value is null"),
        (#""setMany", "params": {"values": {}, "for": null}"#, "params.for is null"),
        (#""setMany", "params": {"values": {}, "allOrNothing": null}"#, "params.allOrNothing is null"),
        (#""setMany", "params": {"values": null}"#, "params.values"),
        (#""reset", "params": {"category": "A", "collection": null}"#, "params.collection is null"),
        (#""subscribe", "params": {"tweaks": null}"#, "params.tweaks is null"),
        (#""undo", "params": {"number": null}"#, "params.number is null"),
        (#""revert", "params": {"mark": null}"#, "params.mark is null"),
        (#""history", "params": {"since": 1, "limit": null}"#, "params.limit is null"),
    ])
    func `A wrong parameter is named`(method: String, part: String) {
        let json = #"{"jsonrpc": "2.0", "id": 1, "method": \#(method)}"#
        #expect(code(json) == .invalidParameters)
        #expect(message(json).contains(part), "\(message(json))")
    }

    @Test(arguments: [
        #""set", "params": {"tweak": "A/B/C", "value": 1, "value": 2}"#,
        #""setMany", "params": {"values": {"A": {"B": {"C": 1}}, "A": {"B": {"D": 1}}}}"#,
        #""reset", "params": {"category": "A"}, "params": {"all": true}"#,
    ])
    func `A name that stands twice is refused`(method: String) {
        #expect(code(#"{"jsonrpc": "2.0", "id": 1, "method": \#(method)}"#) == .parse)
    }

    @Test(
        arguments: [
            ("true", true), ("7", 7), ("-0.5", -0.5), ("18446744073709551615", .integer(Int128(UInt64.max))),
            ("\"text\"", "text"),
        ] as [(String, TweakValue)])
    func `A value keeps its JSON type`(json: String, value: TweakValue) throws {
        let line =
            #"{"jsonrpc": "2.0", "id": 1, "method": "set", "params": {"tweak": "A/B/C", "value": \#(json)}}"#
        let set = SetTweak(tweak: TweakKey("A", "B", "C"), value: .scalar(value))
        #expect(try members(request(line).parameters) == members(set))
    }
}

extension ControlRequest {
    var parameters: Any {
        get throws { try #require(Mirror(reflecting: try call.get()).children.first).value }
    }
}

/// All members of a value, with theirs. Messages are not equatable, since only tests compare them.
func members(_ value: Any) -> [Substring] {
    var text = ""
    dump(value, to: &text)
    // Dictionaries have no order.
    return text.split(separator: "\n").sorted()
}
