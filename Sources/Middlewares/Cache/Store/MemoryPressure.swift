internal import CInterceptorsMemoryPressure

/// Calls a closure when the system is short of memory, as long as the instance exists. Linux sends no such notices.
package final class MemoryPressure: Sendable {
    private final class Notice: Sendable {
        let call: @Sendable (Bool) -> Void

        init(_ call: @escaping @Sendable (Bool) -> Void) { self.call = call }
    }

    // The address of the C observer, which only `deinit` uses; 0 if there is no observer.
    private let watch: UInt

    /// - Parameter notice: called with `true` if the system is about to end processes.
    package init(_ notice: @escaping @Sendable (_ isCritical: Bool) -> Void) {
        let context = Unmanaged.passRetained(Notice(notice))
        let begun = cmemory_pressure_begin(
            { context, isCritical in
                guard let context else { return }
                Unmanaged<Notice>.fromOpaque(context).takeUnretainedValue().call(isCritical != 0)
            },
            { context in
                guard let context else { return }
                Unmanaged<Notice>.fromOpaque(context).release()
            },
            context.toOpaque()
        )
        watch = UInt(bitPattern: begun)
        if begun == nil { context.release() }
    }

    deinit {
        if let begun = UnsafeMutableRawPointer(bitPattern: watch) { cmemory_pressure_end(begun) }
    }
}
