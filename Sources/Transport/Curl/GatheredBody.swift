#if os(Linux)
internal import Foundation

/// The content of a response that is gathered in memory: in one piece of it, which becomes the `Data` without a copy.
struct GatheredBody: ~Copyable {
    private var memory: UnsafeMutableRawPointer?
    private var capacity = 0

    /// The bytes gathered so far.
    private(set) var count = 0

    /// How far the memory is known to have pages.
    private var populated = 0

    // No machine has it, and a sanitizer ends the process for asking.
    private static let tooMuch = 1 << 40

    /// Makes room for as many bytes as are announced, if the system has that much; if not, room is made for those that come.
    mutating func reserve(_ announced: Int) {
        if announced > capacity, announced < Self.tooMuch { _ = resize(to: announced) }
    }

    /// Adds a copy of bytes. Returns whether there was memory for them.
    mutating func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return true }
        let (needed, isTooMuch) = count.addingReportingOverflow(bytes.count)
        guard !isTooMuch, needed <= capacity || grow(to: needed), let memory else { return false }
        if capacity > Self.fresh, needed > populated { populate(upTo: needed) }
        (memory + count).copyMemory(from: start, byteCount: bytes.count)
        count = needed
        return true
    }

    /// Takes the gathered bytes out.
    mutating func take() -> Data {
        guard count > 0 else { return Data() }
        // Otherwise the unused room would be held as long as the bytes.
        if capacity - count > count / 8 { _ = resize(to: count) }
        guard let memory else { return Data() }
        let data = Data(bytesNoCopy: memory, count: count, deallocator: .free)
        (self.memory, capacity, count, populated) = (nil, 0, 0, 0)
        return data
    }

    // The C library has at most 32 MB to give again; more it asks the system for, which has to clear it.
    private static let fresh = 32 << 20

    /// Asks for pages a megabyte at a time, ahead of what is written to them: a fault for each of them takes longer.
    private mutating func populate(upTo needed: Int) {
        guard let memory else { return }
        let page = sysconf(Int32(_SC_PAGESIZE))
        let start = (Int(bitPattern: memory) + max(populated, count)) / page * page
        populated = min(capacity, needed + (1 << 20))
        // MADV_POPULATE_WRITE, of Linux 5.14. Without it pages come one by one, as those of all other memory.
        _ = madvise(UnsafeMutableRawPointer(bitPattern: start), Int(bitPattern: memory) + populated - start, 23)
    }

    /// The first piece is often the only one, and gets what it needs.
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
