internal import CTweaks
internal import Glibc
internal import TweakOverrides
internal import TweakRecords
internal import TweakSystem

// The steps of the library in a process, from the first constructor to the exit:
//
// 1. Constructors of priority 101 note how the process was started: `look_for_standard_error` and `look_at_root` in
//    CTweakSystem, `have_environment` in constructor.c, and `fbtweak__open_image` of fbtweak.h in each image with tweaks,
//    which at this time only notes that the image is there.
// 2. `load` in constructor.c, without a priority, calls `fbtweak__load` below, unless another image has brought the
//    library already, and then offers the library to images that are loaded later.
// 3. `start` does the rest. In a process without tweaks it waits until the program first wants something of the store.
// 4. The library's threads begin when the Swift runtime is ready (`fbtweak__runtime_is_ready`), and watch files a quarter
//    of a second later: most processes are over by then.
// 5. A forked child goes through ForkHandlers.swift, which repeats what is not inherited.
// 6. At exit pending changes are written, and the socket is removed.
//
// Where Swift's library is inside the image, its constructors may run after step 3. See "Before main" in
// HowItWorks for what that forbids.

/// Called by the constructor in `Sources/Library/CTweaks/constructor.c`, before `main`.
///
/// - Parameters: The bounds of the records of the image that this code is in.
@c(fbtweak__load)
func load(recordsStart: UnsafeRawPointer?, recordsStop: UnsafeRawPointer?) {
    var ownRecords = UnsafeRawBufferPointer(start: nil, count: 0)
    if let recordsStart, let recordsStop, recordsStart < recordsStop {
        ownRecords = UnsafeRawBufferPointer(start: recordsStart, count: recordsStop - recordsStart)
    }
    let images = ProcessImage.all(ownRecords: ownRecords)
    // A program without tweaks pays for nothing else.
    guard !images.isEmpty else { return }
    TweakStore.shared.add(images)
    TweakStore.shared.start()
}

extension TweakStore {
    /// Adds the tweaks of images without decoding them: their cells hold their defaults already.
    func add(_ images: [ProcessImage]) {
        state.withLock { state in for image in images { state.images.add(image, isOpened: false) } }
    }

    /// Starts the store of the process, which may have features of a file or an agent even if no image has tweaks.
    func startIfShared() {
        if self === TweakStore.shared { start() }
    }

    /// Starts the library, once per process.
    func start() {
        guard
            hasStarted.withLock({ hasStarted in
                defer { hasStarted = true }
                return !hasStarted
            })
        else { return }
        takeFirstValues()
        serveRequests()
        Self.survivesForks()
        Self.watchMainThread()
        // Registered before main as a rule, so it runs after what the program registers and writes what that sets.
        flushAtExitOfProcess()
        atexit { ControlSockets.removeAtExit() }
    }

    /// Applies what the environment, the overrides file, agents and the providers beside the program say.
    ///
    /// A process with more rights than its user takes nothing from the user's files and environment.
    private func takeFirstValues() {
        let path = executablePath()
        let isPrivileged = fbtweak__is_privileged()
        let name = path.map {
            ApplicationName.first(
                environment: isPrivileged ? nil : environment(ApplicationName.variable),
                declared: ProcessImage.declaredApplications(), executable: $0, problem: diagnostics.warn)
        }
        if !isPrivileged {
            readEnvironment()
            keepOverrides(of: name)
            applyEnvironment()
        }
        if let name { takeProvided(for: name) }
        if !isPrivileged, let path { useProvidersBesideProgram(path) }
    }

    /// Reads the variables that set tweaks. They are applied when the overrides are there too.
    private func readEnvironment() {
        var environment = EnvironmentVariables()
        let (values, problem) = environment.read()
        if let problem { diagnostics.warn(problem) }
        state.withLock { state in
            state.layers[.environment] = values
            state.environment = environment
        }
    }

    private func keepOverrides(of application: String?) {
        do throws(OverridesError) {
            guard let application else {
                throw .noDirectory(reason: "the name of the executable is not known without /proc")
            }
            state.withLock { $0.application = application }
            let file = try OverridesFile(application: application)
            keepOverrides(in: file)
            followOverrides(in: file)
        } catch {
            diagnostics.warn("\(error)")
            let writer = OverridesWriter(.failure(error), report: diagnostics.warn)
            state.withLock { $0.writer = writer }
        }
    }

    private func applyEnvironment() {
        withState { state in
            state.decode(only: Array(state.layers[.environment].keys))
            if !state.environment.isEmpty { state.decode() }
        }
    }

    /// Has the library's threads end when only they are left of the process.
    static func watchMainThread() {
        fbtweak__watch_main_thread { EventLoop.current.withLock { $0 }?.wake() }
    }
}

// MARK: - At exit

extension TweakStore {
    /// Flushes pending writes at exit.
    func flushAtExitOfProcess() {
        let isFirst = keptStores.withLock { stores in
            let isFirst = stores == nil
            stores = (stores ?? []).filter { $0.store != nil } + [WeakStore(store: self)]
            return isFirst
        }
        if isFirst {
            atexit { TweakStore.flushAllAtExit(isLast: true) }
        }
    }

    /// Flushes pending writes of all stores at exit.
    static func flushAllAtExit(isLast: Bool) {
        for store in (keptStores.withLock { $0 } ?? []).compactMap(\.store) {
            store.writer?.flushAtExit(isLast: isLast)
            store.diagnostics.finish()
        }
    }
}

struct WeakStore: Sendable {
    weak let store: TweakStore?
}

/// Stores with a file; `nil` before the first one.
let keptStores = Guarded<[WeakStore]?>(nil)
