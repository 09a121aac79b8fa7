import Foundation
import InterceptorsCore
import Testing

@testable import InterceptorsTransfers

/// Which responses continue the bytes that are there: RFC 9110 §13.1.5, §14.1 to §14.4, §15.3.7, §15.5.17.
@Suite(.againstHanging) struct DownloadDecisionTests {
    private static let kept = Representation(validator: "\"1\"", total: 100)

    private func decide(
        _ status: HTTPResponse.Status,
        _ fields: HTTPFields,
        length: Int64 = 40,
        of representation: Representation = kept
    ) -> DownloadDecision {
        DownloadDecision(
            HTTPResponse(status: status, headers: fields),
            to: RangeDemand(representation, held: length)
        )
    }

    @Test(
        arguments: [
            [.contentRange: "bytes 40-99/100", .eTag: "\"1\"", .contentLength: "60"],
            [.contentRange: "bytes 40-99/100", .eTag: "\"1\""],
            [.contentRange: "bytes 40-99/*", .eTag: "\"1\""],
            [.contentRange: "bytes 40-99/100", .eTag: " \"1\" ", .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"],
            [.contentRange: "bytes 40-99/100", .eTag: "\"1\"", .contentEncoding: "identity"],
        ] as [HTTPFields]
    )
    func aPartOfTheSameVersionContinues(fields: HTTPFields) {
        #expect(decide(206, fields) == .append(40..<100))
    }

    @Test func aShorterPartContinues() {
        #expect(decide(206, [.contentRange: "bytes 40-49/100", .eTag: "\"1\""]) == .append(40..<50))
    }

    @Test(
        arguments: [
            // §15.3.7.1: the range
            [.eTag: "\"1\""],
            [.contentRange: "bytes 41-99/100", .eTag: "\"1\""],
            [.contentRange: "bytes 39-99/100", .eTag: "\"1\""],
            [.contentRange: "bytes 0-99/100", .eTag: "\"1\""],
            [.contentRange: "bytes 40-98/99", .eTag: "\"1\""],
            [.contentRange: "bytes 40-100/101", .eTag: "\"1\""],
            [.contentRange: "bytes 40-100/*", .eTag: "\"1\""],
            [.contentRange: "bytes */100", .eTag: "\"1\""],
            [.contentRange: "bytes 40-99", .eTag: "\"1\""],
            [.contentRange: "bytes 99-40/100", .eTag: "\"1\""],
            [.contentRange: "lines 40-99/100", .eTag: "\"1\""],
            [.contentRange: "bytes 40-99/100", .eTag: "\"1\"", .contentLength: "59"],
            [.contentRange: "bytes 40-99/100", .eTag: "\"1\"", .contentLength: "x"],
            // §15.3.7.2: several parts
            [.contentType: "multipart/byteranges; boundary=x", .eTag: "\"1\""],
            // §15.3.7: the validator
            [.contentRange: "bytes 40-99/100"],
            [.contentRange: "bytes 40-99/100", .eTag: "\"2\""],
            [.contentRange: "bytes 40-99/100", .eTag: "W/\"1\""],
            // §8.4: a range is one of the coded bytes
            [.contentRange: "bytes 40-99/100", .eTag: "\"1\"", .contentEncoding: "gzip"],
        ] as [HTTPFields]
    )
    func aPartInDoubtStartsOver(fields: HTTPFields) {
        guard case .startOver = decide(206, fields) else {
            Issue.record("\(decide(206, fields))")
            return
        }
    }

    @Test func twoContentRangesStartOver() {
        var fields: HTTPFields = [.contentRange: "bytes 40-99/100", .eTag: "\"1\""]
        fields.append(.contentRange, "bytes 40-99/100")
        guard case .startOver = decide(206, fields) else {
            Issue.record("accepted")
            return
        }
    }

    @Test func a200ReplacesTheBytes() {
        #expect(decide(200, [.contentLength: "7"]) == .replace(nil))
        let fields: HTTPFields = [.contentLength: "7", .eTag: "\"2\""]
        #expect(decide(200, fields) == .replace(Representation(validator: "\"2\"", total: 7)))
    }

    @Test func a416StartsOver() {
        for range in ["bytes */100", "bytes */40", "bytes */*", ""] {
            guard case .startOver = decide(416, [.contentRange: range]) else {
                Issue.record("\(range)")
                continue
            }
        }
    }

    @Test func codedContentIsAskedForDecoded() {
        let response = HTTPResponse(
            status: 200,
            headers: [.contentEncoding: "gzip", .contentLength: "7", .eTag: "\"1\""]
        )
        #expect(DownloadDecision(response, to: nil) == .askForDecoded)
        guard case .refuse(.invalidResponse, _) = DownloadDecision(response, to: nil, avoidsCodings: false) else {
            Issue.record("accepted")
            return
        }
    }

    @Test(arguments: [201, 202, 203, 226] as [HTTPResponse.Status])
    func anotherSuccessIsWholeButNeitherContinuedNorInsteadOfTheRest(status: HTTPResponse.Status) {
        let fields: HTTPFields = [.contentLength: "7", .eTag: "\"1\""]
        #expect(DownloadDecision(HTTPResponse(status: status, headers: fields), to: nil) == .replace(nil))
        if status == 203 { return }
        guard case .refuse(.unacceptedStatus, _) = decide(status, fields) else {
            Issue.record("accepted")
            return
        }
    }

    @Test(arguments: [204, 205, 304, 404, 416, 503] as [HTTPResponse.Status])
    func anotherStatusIsNotTheContent(status: HTTPResponse.Status) {
        let response = HTTPResponse(status: status, headers: [.contentLength: "7", .eTag: "\"1\""])
        guard case .refuse(.unacceptedStatus, _) = DownloadDecision(response, to: nil) else {
            Issue.record("accepted")
            return
        }
    }

    @Test func transformedContentIsWholeButNotContinued() {
        #expect(decide(203, [.contentLength: "7", .eTag: "\"1\""]) == .replace(nil))
    }

    @Test func aPartThatNobodyAskedForIsRefused() {
        let response = HTTPResponse(status: 206, headers: [.contentRange: "bytes 0-9/100"])
        guard case .refuse(.invalidRange, _) = DownloadDecision(response, to: nil) else {
            Issue.record("accepted")
            return
        }
    }

    @Test func theDemandLeavesAByteToAskFor() {
        func range(_ length: Int64, of total: Int64 = 100) -> Range<Int64>? {
            let representation = Representation(validator: "\"1\"", total: total)
            return RangeDemand(representation, held: length)?.range
        }
        #expect(range(0) == nil)
        #expect(range(1) == 1..<100)
        #expect(range(100) == 99..<100, "a 416 would not confirm the version")
        #expect(range(101) == nil)
        #expect(range(1, of: 1) == nil)
        var fields: HTTPFields = [.range: "bytes=0-1"]
        RangeDemand(Self.kept, held: 40)?.add(to: &fields)
        #expect(fields == [.range: "bytes=40-", .ifRange: "\"1\""])
    }
}

/// Which responses can be continued later.
@Suite(.againstHanging) struct RepresentationTests {
    private static let noon = "Sun, 06 Nov 1994 12:00:00 GMT"
    private static let minuteBefore = "Sun, 06 Nov 1994 11:59:00 GMT"

    private static let momentBefore = "Sun, 06 Nov 1994 11:59:01 GMT"

    private static let strong: [(HTTPFields, String)] = [
        ([.eTag: "\"1\""], "\"1\""),
        ([.eTag: "\"1\"", .lastModified: minuteBefore, .date: noon], "\"1\""),
        ([.lastModified: minuteBefore, .date: noon], minuteBefore),
        ([.lastModified: minuteBefore, .date: noon, .vary: "Accept-Encoding, Origin"], minuteBefore),
    ]

    @Test(arguments: strong)
    func aStrongValidatorIsKept(fields: HTTPFields, expected: String) {
        var fields = fields
        fields[.contentLength] = "5"
        #expect(Representation(of: fields) == Representation(validator: expected, total: 5))
    }

    @Test(
        arguments: [
            [:], [.eTag: "W/\"1\""], [.eTag: "1"], [.eTag: "\"1\", \"2\""], [.eTag: "\"é\""],
            [.eTag: "\"\(String(repeating: "x", count: 400))\""],
            // §13.1.5: no date beside a tag, even a weak one
            [.eTag: "W/\"1\"", .lastModified: minuteBefore, .date: noon],
            // §8.8.2.2: the date isn't strong
            [.lastModified: momentBefore, .date: noon], [.lastModified: minuteBefore],
            [.lastModified: "x", .date: noon],
            [.lastModified: minuteBefore, .date: noon, .vary: "Cookie"],
            [.lastModified: minuteBefore, .date: noon, .vary: "*"],
            [.eTag: "\"1\"", .contentEncoding: "gzip"], [.eTag: "\"1\"", .acceptRanges: "none"],
        ] as [HTTPFields]
    )
    func withoutAStrongValidatorNothingIsKept(fields: HTTPFields) {
        var fields = fields
        fields[.contentLength] = "5"
        #expect(Representation(of: fields) == nil)
    }

    @Test(arguments: [nil, "0", "-1", "x", "99999999999999999999"])
    func withoutALengthNothingIsKept(length: String?) {
        var fields: HTTPFields = [.eTag: "\"1\""]
        fields[.contentLength] = length
        #expect(Representation(of: fields) == nil)
    }

    @Test func aDateMayBeLeftOutOfAPart() {
        let kept = Representation(validator: Self.minuteBefore, total: 5)
        #expect(kept.isConfirmed(by: [:]))
        #expect(kept.isConfirmed(by: [.lastModified: Self.minuteBefore]))
        #expect(!kept.isConfirmed(by: [.lastModified: Self.noon]))
    }
}
