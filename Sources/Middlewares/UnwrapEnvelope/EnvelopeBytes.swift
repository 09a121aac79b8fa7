internal import Foundation

extension JSONScanner {
    /// Gives a closure the places of the values at some paths, and the bytes that they are places in.
    static func find(
        _ paths: JSONPaths,
        in data: Data,
        _ read: (_ places: UnsafeMutableBufferPointer<Range<Int>?>, _ bytes: UnsafeRawBufferPointer) -> Void
    ) throws(Failure) {
        // Data's closure would lose the type of the error.
        var failure: Failure?
        data.withUnsafeBytes { bytes in
            withUnsafeTemporaryAllocation(of: Range<Int>?.self, capacity: paths.count) { places in
                do throws(Failure) {
                    try find(paths, in: bytes, places)
                    read(places, bytes)
                } catch {
                    failure = error
                }
            }
        }
        if let failure { throw failure }
    }

    static func find(_ paths: [[[UInt8]]], in data: Data) throws(Failure) -> [Range<Int>?] {
        var found: [Range<Int>?] = []
        try find(JSONPaths(paths), in: data) { places, _ in found = Array(places) }
        return found
    }
}

extension Data {
    /// What a closure makes of the bytes from one offset to another, counted from the start.
    func reading<Value>(_ place: Range<Int>, _ read: (UnsafeRawBufferPointer) -> Value) -> Value {
        withUnsafeBytes { read(UnsafeRawBufferPointer(rebasing: $0[place])) }
    }

    /// The bytes from one offset to another, counted from the start, as data that begins at index 0 and holds on to
    /// nothing else.
    func bytes(at place: Range<Int>) -> Data {
        withUnsafeBytes { all in
            all.baseAddress.map { Data(bytes: $0 + place.lowerBound, count: place.count) } ?? Data()
        }
    }
}
