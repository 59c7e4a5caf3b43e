/// What is in a `fbtweak` section.
public struct RecordSection: Sendable {
    /// The tweaks, in the section's order, each with where its record begins.
    public var tweaks: [(offset: Int, declaration: TweakDeclaration)] = []
    /// What could not be read.
    public var errors: [RecordError] = []

    /// Decodes all records of a section. A broken record is reported and the others are still read, as long
    /// as its size tells where the next one begins.
    public init(_ bytes: RawSpan, byteOrder: ByteOrder) {
        var walk = RecordWalk()
        while true {
            do throws(RecordError) {
                guard let range = try walk.next(in: bytes, byteOrder: byteOrder) else { return }
                let declaration = try TweakDeclaration(record: bytes, in: range, byteOrder: byteOrder)
                tweaks.append((range.lowerBound, declaration))
            } catch {
                errors.append(error)
            }
        }
    }
}
