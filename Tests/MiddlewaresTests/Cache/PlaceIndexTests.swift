import TestSupport
import Testing

@testable import Middlewares

@Suite(.againstHanging) struct PlaceIndexTests {
    /// After any insertions and removals, the index finds the same slots as a dictionary.
    @Test(arguments: [1, 3, 64, 1_000])
    func itFindsWhatIsInItAndNothingElse(hashes: Int) {
        var index = PlaceIndex()
        var hashOfPlace: [Int: Int] = [:]
        var random = SeededGenerator(seed: UInt64(hashes))
        for _ in 0..<3_000 {
            let place = Int.random(in: 0..<300, using: &random)
            if hashOfPlace.removeValue(forKey: place) != nil {
                index.remove(place)
            } else {
                // Hashes that are equal, negative, or share their low bits.
                let hash = (Int.random(in: 0..<hashes, using: &random) - hashes / 2) << 4
                index.insert(place, hash)
                hashOfPlace[place] = hash
            }
            let asked = Int.random(in: 0..<300, using: &random)
            let hash = hashOfPlace[asked] ?? 7 << 4
            #expect(index.place(hash) { $0 == asked } == (hashOfPlace[asked] == nil ? nil : asked))
            #expect(index.place(hash) { _ in false } == nil)
        }
        for (place, hash) in hashOfPlace { #expect(index.place(hash) { $0 == place } == place) }
    }

    @Test func aPlaceOfAnotherHashIsNotAskedFor() {
        var index = PlaceIndex()
        for place in 0..<100 { index.insert(place, place) }
        var asked: [Int] = []
        #expect(
            index.place(17) {
                asked.append($0); return true
            } == 17
        )
        #expect(asked == [17])
        #expect(
            index.place(100) {
                asked.append($0); return true
            } == nil
        )
        #expect(asked == [17])
    }
}
