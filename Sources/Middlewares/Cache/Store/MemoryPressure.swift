internal import CMemoryPressure

/// Notices of the system that memory is short, as long as it is held. Linux sends none.
final class MemoryPressure: Sendable {
    private final class Notice: Sendable {
        let call: @Sendable (Bool) -> Void

        init(_ call: @escaping @Sendable (Bool) -> Void) { self.call = call }
    }

    // The address of what ends the notices, which only `deinit` uses; 0 where there are none.
    private let watch: UInt

    /// - Parameter notice: called with whether processes are about to be ended.
    init(_ notice: @escaping @Sendable (_ isCritical: Bool) -> Void) {
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
