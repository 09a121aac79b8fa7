import InterceptorsTestSupport
import Testing

@testable import InterceptorsImages

/// The decisions about an image that only its header tells.
@Suite(.againstHanging) struct ImagePixelsTests {
    @Test(arguments: [
        (30_000.0, 30_000.0, 50_000_000, false), (8_064, 6_048, 50_000_000, true), (10, 10, 100, true),
        (10, 10, 99, false), (1e300, 1e300, .max, true), (1e300, 1, 50_000_000, false), (-1, 1, 50_000_000, false),
        (.nan, 1, 50_000_000, false), (.infinity, .infinity, 50_000_000, false), (1, 1, -1, false), (0, 0, 0, true),
    ])
    func imageWithMorePixelsThanTheLimitIsRefused(width: Double, height: Double, limit: Int, isAllowed: Bool) {
        let pixels = ImagePixels(width: width, height: height)
        if isAllowed {
            #expect(throws: Never.self) { try pixels.check(limit: limit) }
        } else {
            #expect(throws: DecodingError.self) { try pixels.check(limit: limit) }
        }
    }

    @Test func refusalNamesTheSizeAndTheLimit() {
        let error = #expect(throws: DecodingError.self) {
            try ImagePixels(width: 30_000, height: 20_000).check(limit: 50_000_000)
        }
        #expect("\(error as Any)".contains("30000 × 20000") && "\(error as Any)".contains("50000000"))
    }

    @Test(arguments: [(3.0, 2.0, 24), (0, 5, 0), (1e9, 1e9, 4_000_000_000_000_000_000), (1e300, 1e300, 1 << 62)])
    func costIsFourBytesForEachPixel(width: Double, height: Double, bytes: Int) {
        #expect(ImagePixels(width: width, height: height).bytes == bytes)
    }

    @Test(arguments: [
        (4_000.0, 3_000.0, 300, 300.0, 225.0), (3_000, 4_000, 300, 225, 300), (200, 100, 300, 200, 100),
        (10_000, 1, 300, 300, 1), (1, 10_000, 300, 1, 300), (100, 50, 0, 1, 1), (300, 300, 300, 300, 300),
    ])
    func thumbnailKeepsTheProportions(
        width: Double,
        height: Double,
        longest: Int,
        fittingWidth: Double,
        fittingHeight: Double
    ) {
        let fitting = ImagePixels(width: width, height: height).fitting(longestSide: longest)
        #expect(fitting == ImagePixels(width: fittingWidth, height: fittingHeight))
    }
}
