internal import TweakJSON

/// How much one side of the protocol takes from the other, so that nobody can fill the memory of a program.
package enum ControlLimits {
    /// The version of the protocol, which grows when a client of an earlier one would be wrong about it.
    package static let protocolVersion = 1
    /// The bytes of a request, with the newline.
    package static let requestSize = 1 << 20
    /// How many arrays and objects are inside each other in a message.
    package static let nesting = deepestNesting
    /// How many clients a program has at a time. More are refused.
    package static let clients = 128
    /// How many requests of a client wait for their answers. Then the program reads no further ones.
    package static let waitingRequests = 128
    /// How many actions run at a time that clients have asked for. More are refused as busy.
    package static let actions = 4
    /// The bytes that wait for a client to read them. Then the program reads no further requests, and changes that
    /// the client has subscribed to become one for each tweak.
    package static let unreadSize = 1 << 20
    /// How many subscriptions a client has at a time.
    package static let subscriptions = 64
}
