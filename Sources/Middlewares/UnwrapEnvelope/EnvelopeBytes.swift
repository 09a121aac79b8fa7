internal import Foundation

extension JSONScanner {
    static func find(_ paths: [[[UInt8]]], in data: Data) throws(Failure) -> [Range<Int>?] {
        // Data's closure would lose the type of the error.
        let result = data.withUnsafeBytes { bytes in
            Result { () throws(Failure) in try find(paths, in: bytes) }
        }
        return try result.get()
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

    /// Leaves only the bytes from one offset to another, counted from the start, and makes them begin at index 0.
    ///
    /// A large part of data that nothing else holds is moved to its front, in the same memory: new memory of many pages
    /// costs more than the search for the part did. Any other is copied, so that it does not keep the memory of the whole.
    mutating func cut(to place: Range<Int>) {
        guard startIndex == 0, place.count > Swift.max(count / 2, 64 << 10) else {
            self = bytes(at: place)
            return
        }
        if place.upperBound < count { removeSubrange(place.upperBound...) }
        if place.lowerBound > 0 { removeSubrange(..<place.lowerBound) }
    }
}
