#if os(Linux)
internal import CInterceptorsCurl

/// The field lines of a request in libcurl's format, in a single allocation.
struct CurlFieldList {
    private let memory: UnsafeMutableRawPointer
    /// The list for libcurl, valid until ``free()``.
    var pointer: UnsafeRawPointer { UnsafeRawPointer(memory) }

    /// Creates a list of the fields, except `Content-Length` and an empty `User-Agent`, followed by lines in libcurl's
    /// notation. A line that ends in its colon, such as `Accept:`, keeps libcurl from adding that field. Returns `nil` for an
    /// empty list.
    ///
    /// - Parameter ownLine: a further line.
    init?(_ fields: HTTPFields, _ lines: [StaticString], ownLine: String?) {
        var (count, bytes) = (lines.count + (ownLine == nil ? 0 : 1), (ownLine?.utf8.count ?? 0) + 1)
        for field in fields where Self.isSent(field) {
            count += 1
            bytes += field.name.rawName.utf8.count + field.value.utf8.count + 3
        }
        for line in lines { bytes += line.utf8CodeUnitCount + 1 }
        guard count > 0 else { return nil }
        let nodes = count * MemoryLayout<ccurl_list>.stride
        memory = .allocate(byteCount: nodes + bytes, alignment: MemoryLayout<ccurl_list>.alignment)
        var writer = Writer(memory, count: count)
        for field in fields where Self.isSent(field) {
            // libcurl's notation for an empty value is "Name;", because "Name:" would remove the field.
            writer.begin()
            writer.add(field.name.rawName)
            writer.add(field.value.isEmpty ? ";" : ": ")
            writer.add(field.value)
            writer.end()
        }
        for line in lines {
            writer.begin()
            writer.add(UnsafeBufferPointer(start: line.utf8Start, count: line.utf8CodeUnitCount))
            writer.end()
        }
        if let ownLine {
            writer.begin()
            writer.add(ownLine)
            writer.end()
        }
    }

    private static func isSent(_ field: HTTPField) -> Bool {
        field.name != .contentLength && !(field.value.isEmpty && field.name == .userAgent)
    }

    func free() { memory.deallocate() }

    /// Writes the memory: first the nodes, then their texts.
    private struct Writer {
        private let nodes: UnsafeMutablePointer<ccurl_list>
        private let count: Int
        private var node = 0
        private var text: UnsafeMutablePointer<CChar>

        init(_ memory: UnsafeMutableRawPointer, count: Int) {
            nodes = memory.bindMemory(to: ccurl_list.self, capacity: count)
            text = (memory + count * MemoryLayout<ccurl_list>.stride).assumingMemoryBound(to: CChar.self)
            self.count = count
        }

        mutating func begin() {
            let next = node + 1 < count ? nodes + node + 1 : nil
            (nodes + node).initialize(to: ccurl_list(text: text, next: next))
            node += 1
        }

        mutating func add(_ part: String) {
            var part = part
            part.withUTF8 { add($0) }
        }

        mutating func add(_ part: UnsafeBufferPointer<UInt8>) {
            guard let start = part.baseAddress else { return }
            UnsafeMutableRawPointer(text).copyMemory(from: start, byteCount: part.count)
            text += part.count
        }

        mutating func end() {
            text.initialize(to: 0)
            text += 1
        }
    }
}
#endif
