#if os(Linux)
internal import Foundation

/// Buffers the content of a response in one block of memory, which becomes the `Data` without a copy.
struct GatheredBody: ~Copyable {
    private var memory: UnsafeMutableRawPointer?
    private var capacity = 0

    /// The number of bytes buffered.
    private(set) var count = 0

    // No machine has this much memory, and a sanitizer ends the process for requesting it.
    private static let tooMuch = 1 << 40

    /// Reserves memory for the announced length. If the system lacks the memory, the block grows with the bytes that arrive.
    mutating func reserve(_ announced: Int) {
        if announced > capacity, announced < Self.tooMuch { _ = resize(to: announced) }
    }

    /// Appends a copy of bytes. Returns `false` if there was no memory for them.
    mutating func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return true }
        let (needed, isTooMuch) = count.addingReportingOverflow(bytes.count)
        guard !isTooMuch, needed <= capacity || grow(to: needed), let memory else { return false }
        (memory + count).copyMemory(from: start, byteCount: bytes.count)
        count = needed
        return true
    }

    /// Removes and returns the bytes.
    mutating func take() -> Data {
        guard count > 0 else { return Data() }
        // Otherwise the `Data` would keep the unused memory as long as the bytes.
        if capacity - count > count / 8 { _ = resize(to: count) }
        guard let memory else { return Data() }
        let data = Data(bytesNoCopy: memory, count: count, deallocator: .free)
        (self.memory, capacity, count) = (nil, 0, 0)
        return data
    }

    /// Doubles the capacity, but the first piece, which is often the only one, gets exactly the memory it needs.
    private mutating func grow(to needed: Int) -> Bool {
        let (doubled, isTooMuch) = capacity.multipliedReportingOverflow(by: 2)
        return resize(to: isTooMuch ? needed : max(doubled, needed)) || resize(to: needed)
    }

    private mutating func resize(to capacity: Int) -> Bool {
        guard let resized = realloc(memory, capacity) else { return false }
        (memory, self.capacity) = (resized, capacity)
        return true
    }

    deinit { free(memory) }
}
#endif
