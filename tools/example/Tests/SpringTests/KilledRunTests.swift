import Foundation
import SpringScene
import Testing
import Tweaks
import TweaksTesting

extension Motion {
    @Tweakable("Spring", "Motion", "Repetitions") static var repetitions = 1
}

/// If `SPRING_TESTS_PAUSE` names a file, the test writes its process id there once the tweaks are set, and waits to be
/// killed.
@Test func `A run that is killed changes nothing for the next one`() async throws {
    #expect(Motion.repetitions == 1)
    #expect(String(cString: spring_scene_label()) == "spring")

    try Motion.$repetitions.set(3)
    try TweakStore.shared.set("coil", for: TweakKey("Spring", "Scene", "Label"))
    TweakStore.shared.flush()
    #expect(Motion.repetitions == 3)
    #expect(String(cString: spring_scene_label()) == "coil")

    let process = ProcessInfo.processInfo
    if let file = process.environment["SPRING_TESTS_PAUSE"] {
        try "\(process.processIdentifier)".write(toFile: file, atomically: true, encoding: .utf8)
        try await Task.sleep(for: .seconds(300))
    }
}
