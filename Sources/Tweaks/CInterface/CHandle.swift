internal import FBTweak
internal import TweakRecords

extension Handle {
    var pointer: UnsafePointer<fbtweak> { UnsafeRawPointer(record).assumingMemoryBound(to: fbtweak.self) }
}

extension TweakStore {
    func handle(of key: TweakKey) -> UnsafePointer<fbtweak>? {
        withDecodedState { state in state.handle(of: key) }?.pointer
    }

    /// The name of the tweak of a handle, or of a record that a compiler made.
    func key(of tweak: UnsafePointer<fbtweak>?) throws(CFailure) -> TweakKey {
        guard let tweak else { throw .noHandle }
        return key(ofCell: UInt(bitPattern: tweak) &+ UInt(RecordLayout.cellOffset))
    }

    /// What a handle, or a record that a compiler made, says about its tweak.
    func declaration(of tweak: UnsafePointer<fbtweak>?) throws(CFailure) -> TweakDeclaration {
        guard let tweak, let declaration = TweakDeclaration(record: UnsafeRawPointer(tweak)) else {
            throw .noHandle
        }
        return declaration
    }
}
