internal import CTweaks
internal import Glibc
internal import TweakRecords

/// Called by the constructor in `Sources/CTweaks/constructor.c`, before `main`.
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

/// Called by the constructor in `fbtweak.h`, with the dynamic linker's lock held, of an image that comes later.
@c(fbtweak__image_opened)
func imageOpened(address: UnsafeRawPointer?) {
    guard let image = ProcessImage.containing(UInt(bitPattern: address)) else { return }
    TweakStore.shared.start()
    TweakStore.shared.withState { $0.open(image) }
}

/// Called by the destructor in `fbtweak.h`: before an image is unloaded, and when the process exits.
@c(fbtweak__image_closed)
func imageClosed(address: UnsafeRawPointer?) {
    TweakStore.shared.closeImage(containing: UInt(bitPattern: address))
}

extension TweakStore {
    /// Begins with what a process with tweaks does, once.
    func start() {
        guard
            hasStarted.withLock({ hasStarted in
                defer { hasStarted = true }
                return !hasStarted
            })
        else { return }
        keepOverrides()
        serveRequests()
        Self.survivesForks()
        // Registered before main as a rule, so it runs after what the program registers and writes what that sets.
        flushAtExitOfProcess()
        atexit { ControlSockets.removeAtExit() }
    }

    /// Lets go of an image that came after the start, and returns when no call into it is running.
    fileprivate func closeImage(containing address: UInt) {
        let closed = withState { state -> ProcessImage? in
            guard let (image, number) = state.images.opened(at: address) else { return nil }
            state.close(image, number)
            return image
        }
        guard let closed else { return }
        state.waitForCalls { $0.code.map(closed.memory.contains) ?? false }
        tellObservers()
    }
}
