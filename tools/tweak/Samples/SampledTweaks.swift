import CommandSupport
import Glibc
import TweakClient
import TweakPlot
import TweakProtocol
import TweakRecords

extension ProgramOptions {
    /// Calls `body` with samples of what runs: the program takes them itself, or its memory is read if it does not have the library.
    ///
    /// - Parameter tweaks: What is sampled.
    func forEachSampled(
        rate: Double, _ tweaks: (any Program) throws(Failure) -> [JSONTweak],
        _ body: (any SampleSource<Failure> & ChangeSource, String) throws(Failure) -> Void
    ) throws {
        try forEach(.json) { program throws(Failure) in
            switch program {
            case let program as LiveProgram:
                try body(try LiveSamples(program, tweaks(program), rate: rate), program.title)
            case let program as MemoryProgram:
                let watched = program.tweaks().filter(\.declaration.hasKeptValue)
                try body(
                    try MemorySamples(program, tweaks(program), watching: watched, rate: rate), program.title)
            default:
                throw Failure(
                    "it does not run, or does not want to be asked", about: program.title, EX_UNAVAILABLE)
            }
        }
    }
}

extension Program {
    /// The monitors and tweaks that a person names, to be sampled.
    ///
    /// - Returns: Each once, though it is named twice.
    /// - Throws: ``Failure`` with `EX_DATAERR` if one is neither a number nor a Bool.
    func sampled(_ names: [String]) throws(Failure) -> [JSONTweak] {
        var tweaks: [JSONTweak] = []
        for name in names {
            let tweak = try tweak(named: name)
            let type = tweak.declaration.type
            guard type.canBeMonitored else {
                throw Failure(
                    "\(tweak.declaration.key): \(type.withArticle) cannot be sampled; numbers and Bools can",
                    EX_DATAERR)
            }
            if !tweaks.contains(where: { $0.declaration.key == tweak.declaration.key }) {
                tweaks.append(tweak)
            }
        }
        return tweaks
    }

    /// All monitors.
    ///
    /// - Throws: ``Failure`` with `EX_DATAERR` if there is none.
    func monitors() throws(Failure) -> [JSONTweak] {
        let monitors = try tweaks().filter(\.declaration.isMonitor)
        guard !monitors.isEmpty else {
            throw Failure(
                "it has no monitors; name tweaks that are numbers or Bools", about: title, EX_DATAERR)
        }
        return monitors
    }
}
