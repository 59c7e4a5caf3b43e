// SPDX-License-Identifier: BSD-3-Clause
internal import CTweaks
internal import Glibc
internal import TweakOverrides
internal import TweakRecords
internal import TweakSystem

// The steps of the library in a process, from the first constructor to the exit:
//
// 1. Constructors of priority 101 note how the process was started: `look_for_standard_error` and `look_at_root` in
//    CTweakSystem, `have_environment` in constructor.c, and `fbtweak__open_image` of fbtweak.h in each image with
//    tweaks, which at this time only notes the image.
// 2. `load` in constructor.c, without a priority, calls `fbtweak__load` below, and then offers the library to images
//    that are loaded later. It does nothing if another image has brought the library already, or in a namespace of
//    dlmopen. If a plug-in has brought the library, the plug-in can be unloaded, and the library stays.
// 3. `start` does the rest. In a process without tweaks it waits until the program first uses the store.
// 4. The library's threads begin when the Swift runtime is ready (`fbtweak__runtime_is_ready`), and watch files a quarter
//    of a second later: most processes are over by then.
// 5. A forked child goes through ForkHandlers.swift, which repeats what is not inherited.
// 6. At exit pending changes are written, and the socket is removed. An exit in a signal handler that has interrupted the
//    library may find locks held by its own thread, so it takes none.
//
// If Swift's library is inside the image, its constructors may run after step 3. "Before main" in HowItWorks lists what
// is forbidden until then.

/// Whether only the program itself can change its tweaks, which `FB_TWEAK_DISABLED` makes so.
private var isDisabled: Bool {
    #if FB_TWEAK_DISABLED
    true
    #else
    false
    #endif
}

/// Called by the constructor in `Sources/Library/CTweaks/constructor.c`, before `main`.
///
/// - Parameters: The bounds of the records in this code's own image.
@_cdecl("fbtweak__load")
func load(recordsStart: UnsafeRawPointer?, recordsStop: UnsafeRawPointer?) {
    if isDisabled { return }
    var ownRecords = UnsafeRawBufferPointer(start: nil, count: 0)
    if let recordsStart, let recordsStop, recordsStart < recordsStop {
        ownRecords = UnsafeRawBufferPointer(start: recordsStart, count: recordsStop - recordsStart)
    }
    let images = ProcessImage.all(ownRecords: ownRecords)
    let imagesWithTweaks = images.filter { !$0.records.isEmpty && ($0.isLasting || $0.announcesItsEnd) }
    // A program without tweaks pays for nothing else.
    guard !imagesWithTweaks.isEmpty || haveAdoptedVariables(images) else { return }
    TweakStore.ofProcess.add(imagesWithTweaks)
    TweakStore.ofProcess.start()
}

/// Returns whether variables of the program have been adopted. It takes one system call.
private func haveAdoptedVariables(_ images: [ProcessImage]) -> Bool {
    guard !fbtweak__is_privileged(), !images.isEmpty else { return false }
    var declared: [String] = []
    // By index, because an iterator of large structures needs metadata that takes long to make.
    for index in images.indices { if let name = images[index].application { declared.append(name) } }
    let name = ApplicationName.first(
        environment: environment(ApplicationName.variable), declared: declared, executable: images[0].path,
        problem: { _ in })
    return (try? AdoptedFile(application: name))?.exists ?? false
}

extension TweakStore {
    /// Adds the tweaks of images without decoding them, because their cells hold the defaults already.
    func add(_ images: [ProcessImage]) {
        state.withLock { state in
            for image in images { state.images.add(image) }
        }
    }

    /// Starts the store of the process. It may have features from a file or an agent even if no image has tweaks.
    func startIfShared() {
        if self === TweakStore.ofProcess { start() }
    }

    /// Starts the library, once per process.
    func start() {
        guard
            hasStarted.withLock({ hasStarted in
                defer { hasStarted = true }
                return !hasStarted
            })
        else { return }
        if isDisabled {
            // Files beside the program belong to it, so their values apply.
            if let path = executablePath(), !fbtweak__is_privileged() { useProvidersBesideProgram(path) }
            return
        }
        // No loop is running yet, so cells get their first values directly, and first values are no changes.
        state.withLock { ($0.gates.areUsed, $0.history.isStarting) = (false, true) }
        takeFirstValues()
        state.withLock { ($0.gates.areUsed, $0.history.isStarting) = (true, false) }
        reportUnknownVariablesSoon()
        serveRequests()
        Self.survivesForks()
        Self.watchMainThread()
        // Usually registered before main, so it runs after the program's handlers and writes what they set.
        flushAtExitOfProcess()
        // Made now, because an exit inside the library must not allocate.
        _ = ControlSockets.own
        atexit { ControlSockets.removeAtExit() }
    }

    /// Applies the environment, the overrides file, the agents' files, and the providers listed beside the program.
    ///
    /// A process with more rights than its user ignores that user's files and environment. One that runs tests ignores
    /// what is kept or set for the program.
    private func takeFirstValues() {
        let path = executablePath()
        if Self.runsTests(path) {
            readHistorySize()
            return
        }
        let isPrivileged = fbtweak__is_privileged()
        let name = path.map {
            ApplicationName.first(
                environment: isPrivileged ? nil : environment(ApplicationName.variable),
                declared: ProcessImage.declaredApplications(), executable: $0, problem: diagnostics.warn)
        }
        if !isPrivileged {
            readEnvironment()
            readHistorySize()
            keepOverrides(of: name)
            applyEnvironment()
            adoptVariables()
        }
        if let name { takeProvided(for: name) }
        if !isPrivileged, let path { useProvidersBesideProgram(path) }
    }

    /// Returns whether the process runs tests, which depend on nothing that somebody has kept, and keep nothing.
    ///
    /// - Parameter path: The executable. The package manager and Xcode give those of tests the suffix `.xctest`.
    private static func runsTests(_ path: String?) -> Bool {
        switch environment("TWEAKS_TESTING") {
        case "1": true
        case "0": false
        default: fbtweak__has_tests() || path?.hasSuffix(".xctest") ?? false
        }
    }

    /// Reads the variables that set tweaks. They are applied together with the overrides.
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

    /// Ends the library's threads when no other threads of the process are left.
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
            stores = (stores ?? []).filter { $0.object != nil } + [WeakReference(self)]
            return isFirst
        }
        if isFirst {
            atexit { TweakStore.flushAllAtExit(isLast: true) }
        }
    }

    /// Flushes before the destructors of libraries, if it is called after they are loaded. The other handler, registered
    /// before `main`, runs among them. No thread may write then: glibc's memusage can no longer free what it allocated.
    static let flushEarlyAtExit: Void = {
        _ = atexit {
            flushAllAtExit(isLast: false)
            if !fbtweak__exits_inside() { fbtweak__stop_work_at_exit() }
        }
    }()

    /// Notes whether exit(3) was called in a signal handler that has interrupted the library. Every exit handler of the
    /// library begins with it.
    static func lookForExitInside() {
        if fbtweak__is_inside() || ofProcess.state.isHeldHere { fbtweak__exit_inside() }
    }

    /// Flushes pending writes of all stores at exit. If a signal handler calls exit(3) while its thread runs the library's
    /// code, the threads that write do that, see `fbtweak__exit_inside`.
    static func flushAllAtExit(isLast: Bool) {
        lookForExitInside()
        guard !fbtweak__exits_inside() else { return }
        for store in (keptStores.withLock { $0 } ?? []).compactMap({ $0.object }) {
            if store.isShared { store.reportUnknownVariables() }
            store.writer?.flushAtExit(isLast: isLast)
            store.diagnostics.finish()
        }
    }
}

/// The stores with an overrides file; `nil` before the first one.
let keptStores = Guarded<[WeakReference<TweakStore>]?>(nil)
