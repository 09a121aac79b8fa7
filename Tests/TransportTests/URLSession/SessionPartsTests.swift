import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#if canImport(InterceptorsURLSession)
@testable import InterceptorsURLSession
#endif

@Suite(.againstHanging) struct SessionPartsTests {
    @Test(arguments: [
        ("", [""]), ("a=1", ["a=1"]), ("a=1, b=2", ["a=1", "b=2"]), ("a=1,b=2", ["a=1", "b=2"]),
        ("a=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT, b=2", ["a=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT", "b=2"]),
        (
            "a=1; Expires=Wednesday, 21-Oct-99 07:28:00 GMT; Path=/",
            ["a=1; Expires=Wednesday, 21-Oct-99 07:28:00 GMT; Path=/"]
        ),
        ("a=x,y, b=2", ["a=x,y", "b=2"]), ("a=1, ,b=2", ["a=1, ", "b=2"]), ("a=,", ["a=,"]), (",,,", [",,,"]),
        ("a=1, b=\u{301}x, c=3", ["a=1", "b=\u{301}x", "c=3"]), ("a=1,\u{301}b=2", ["a=1,\u{301}b=2"]),
        ("a={\"x\": 1, \"y\": 2}, __Host-b=\u{2603}", ["a={\"x\": 1, \"y\": 2}", "__Host-b=\u{2603}"]),
    ])
    func joinedCookiesAreTakenApart(joined: String, cookies: [String]) {
        #expect(SetCookie.split(joined) == cookies)
    }

    @Test(arguments: [
        (nil, false), ("", false), ("identity", false), ("gzip", true), ("GZIP", true), ("x-gzip , br", true),
        ("identity, deflate", true),
    ])
    func codingsThatAreUndoneAreKnown(codings: String?, expected: Bool) {
        #expect(ResponseHead.isDecoded(codings) == expected)
    }

    @Test(arguments: [
        (URLError.Code.timedOut, "", false, HTTPErrorCode.timedOut),
        (.cannotFindHost, "Could not resolve host: a", false, .cannotFindHost),
        (.cannotConnectToHost, "", false, .cannotConnect), (.notConnectedToInternet, "", false, .offline),
        (.networkConnectionLost, "", false, .connectionLost), (.networkConnectionLost, "", true, .truncated),
        (.badServerResponse, "Empty reply from server", false, .connectionLost),
        (.badServerResponse, "", false, .invalidResponse), (.cannotParseResponse, "", false, .invalidResponse),
        (.cannotDecodeContentData, "", true, .invalidResponse), (.serverCertificateUntrusted, "", false, .tlsFailed),
        (.secureConnectionFailed, "", false, .tlsFailed), (.unsupportedURL, "unsupported URL", false, .unsupportedURL),
        (.unsupportedURL, "Received HTTP/0.9 when not allowed", false, .invalidResponse),
        (.appTransportSecurityRequiresSecureConnection, "", false, .unsupported),
        (.unknown, "SSL certificate problem: self-signed certificate", false, .tlsFailed),
        (.notConnectedToInternet, "", true, .truncated), (.dataNotAllowed, "", true, .truncated),
        (.cannotConnectToHost, "", true, .truncated), (.cannotFindHost, "", true, .truncated),
        (.unknown, "OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to h:443", false, .connectionLost),
        (.unknown, "OpenSSL SSL_connect: Connection reset by peer in connection to h:443", false, .connectionLost),
        (.unknown, "error:0A000126:SSL routines::unexpected eof while reading", false, .connectionLost),
        (.unknown, "OpenSSL SSL_read: Connection reset by peer, errno 104", false, .connectionLost),
        (.unknown, "OpenSSL SSL_read: Connection reset by peer, errno 104", true, .truncated),
        (.unknown, "SSL_write() returned SYSCALL, errno = 32", false, .connectionLost),
        (.unknown, "GnuTLS recv error (-54): Error in the pull function.", false, .connectionLost),
        (.unknown, "SSL read: error:0A00045C:SSL routines::tlsv13 alert certificate required", false, .tlsFailed),
        (.unknown, "OpenSSL SSL_read: error:0A000412:SSL routines::sslv3 alert bad certificate", false, .tlsFailed),
        (.unknown, "OpenSSL SSL_read: error:0A000438:SSL routines::tlsv1 alert internal error", false, .connectionLost),
        (.unknown, "transfer closed with 5 bytes remaining to read", true, .truncated),
        (.unknown, "Error while processing content unencoding: invalid", true, .invalidResponse),
        (.unknown, "Unrecognized content encoding type.", true, .invalidResponse),
        (.unknown, "Header without colon", false, .invalidResponse), (.unknown, "", false, .transportFailed),
        (.unknown, "Send failure: Broken pipe", false, .connectionLost),
        (.fileDoesNotExist, "", false, .unreadableFile),
        (.cannotCreateFile, "", true, .unwritableFile), (.cannotWriteToFile, "", true, .unwritableFile),
        (.cannotMoveFile, "", true, .unwritableFile), (.downloadDecodingFailedMidStream, "", true, .invalidResponse),
        (.badURL, "", false, .unsupportedURL), (.userAuthenticationRequired, "", false, .transportFailed),
    ])
    func foundationsErrorsHaveAMeaning(code: URLError.Code, detail: String, hasHead: Bool, meaning: HTTPErrorCode) {
        #expect(SessionFailure.meaning(of: code, detail: detail, hasHead: hasHead) == meaning)
    }

    @Test(arguments: [
        (ECONNABORTED, HTTPErrorCode.connectionLost), (ECONNRESET, .connectionLost), (ENOTCONN, .connectionLost),
        (EPROTO, .connectionLost), (EPIPE, .connectionLost), (ETIMEDOUT, .connectionLost), (ENETDOWN, .connectionLost),
        (EHOSTUNREACH, .connectionLost), (ECONNREFUSED, .cannotConnect),
    ])
    func posixErrorOfAConnectionIsALostOneAndWithinTheContentATruncation(
        code: Int32,
        meaning: HTTPErrorCode
    ) throws {
        let cause = NSError(domain: NSPOSIXErrorDomain, code: Int(code))
        let request = HTTPRequest(url: try #require(URL(string: "http://a.example/")))
        let error = SessionFailure.error(cause, hasHead: false, request: request)
        #expect(error.code == meaning)
        #expect(error.message.contains("NSPOSIXErrorDomain \(code)"))
        #expect((error.underlying as NSError?)?.code == Int(code))
        let domain = NSPOSIXErrorDomain
        #expect(SessionFailure.meaning(ofDomain: domain, code: Int(code), hasHead: true) == .truncated)
    }

    @Test(arguments: [
        ("kCFErrorDomainCFNetwork", 302, false, HTTPErrorCode.connectionLost),
        ("kCFErrorDomainCFNetwork", 302, true, .truncated), ("kCFErrorDomainCFNetwork", 303, false, .invalidResponse),
        ("kCFErrorDomainCFNetwork", 306, false, .cannotConnect),
        ("kCFErrorDomainCFNetwork", 311, false, .cannotConnect),
        ("kCFErrorDomainCFNetwork", -1005, false, .connectionLost),
        ("kCFErrorDomainCFNetwork", 1, false, .transportFailed),
        (NSPOSIXErrorDomain, Int(ENOSPC), true, .unwritableFile),
        (NSPOSIXErrorDomain, Int(EDQUOT), false, .unwritableFile),
        (NSPOSIXErrorDomain, Int(EINVAL), false, .transportFailed),
        (NSCocoaErrorDomain, CocoaError.fileWriteOutOfSpace.rawValue, true, .unwritableFile),
        (NSCocoaErrorDomain, CocoaError.fileWriteNoPermission.rawValue, true, .unwritableFile),
        (NSCocoaErrorDomain, CocoaError.fileReadNoSuchFile.rawValue, false, .unreadableFile),
        (NSCocoaErrorDomain, CocoaError.coderInvalidValue.rawValue, false, .transportFailed),
        ("NSOSStatusErrorDomain", -9806, false, .transportFailed),
    ])
    func errorsOfOtherDomainsHaveAMeaning(domain: String, code: Int, hasHead: Bool, meaning: HTTPErrorCode) {
        #expect(SessionFailure.meaning(ofDomain: domain, code: code, hasHead: hasHead) == meaning)
    }

    @Test func numberThatSaysWhyTheNetworkIsUnavailableIsKept() throws {
        // The value of NSURLErrorNetworkUnavailableReasonKey, which only Apple's platforms declare.
        let key = "NSURLErrorNetworkUnavailableReasonKey"
        let userInfo: [String: Any] = [key: NSNumber(value: 2), NSLocalizedDescriptionKey: "no network for s3cr3t?"]
        let cause = NSError(domain: NSURLErrorDomain, code: NSURLErrorNotConnectedToInternet, userInfo: userInfo)
        let request = HTTPRequest(url: try #require(URL(string: "http://a.example/")))
        let underlying = try #require(
            SessionFailure.error(cause, hasHead: false, request: request).underlying as? URLError
        )
        #expect((underlying.userInfo[key] as? NSNumber)?.intValue == 2)
        #expect(underlying.userInfo.count == 1)
    }

    @Test(arguments: [
        (ChallengeRule.Subject.password, false, ChallengeRule.reject), (.password, true, .leaveToSystem),
        (.serverTrust, false, .judgeServer), (.serverTrust, true, .judgeServer),
        (.clientCertificate, false, .presentIdentity), (.clientCertificate, true, .leaveToSystem),
        (.other, false, .leaveToSystem), (.other, true, .leaveToSystem),
    ])
    func challengesOfProxiesAreLeftToTheSystemButForTheirCertificates(
        subject: ChallengeRule.Subject,
        isProxy: Bool,
        rule: ChallengeRule
    ) {
        #expect(ChallengeRule(subject, isProxy: isProxy) == rule)
    }

    @Test func ofFoundationsErrorsOnlyTheNumberIsKept() throws {
        let secret = "http://a.example/?token=s3cr3t"
        let userInfo: [String: Any] = [
            NSURLErrorFailingURLErrorKey: URL(string: secret) as Any, NSLocalizedDescriptionKey: "can't load \(secret)",
            NSUnderlyingErrorKey: NSError(domain: secret, code: 1),
        ]
        let request = HTTPRequest(url: try #require(URL(string: secret)))
        let cause = NSError(domain: NSURLErrorDomain, code: NSURLErrorCannotConnectToHost, userInfo: userInfo)
        let error = SessionFailure.error(cause, hasHead: false, request: request)
        #expect(error.code == .cannotConnect)
        #expect((error.underlying as? URLError)?.code == .cannotConnectToHost)
        var dumped = ""
        dump(error, to: &dumped)
        #expect(!(dumped + error.description + String(reflecting: error)).contains("s3cr3t"))
        for text in [
            "a:?\u{301}s3cr3t", "s3cr3t@\u{301}h", "h://\u{301}s3cr3t",
            "s3cr3t" + String(repeating: "\u{301}", count: 300),
        ] {
            let cause = NSError(domain: NSURLErrorDomain, code: -1, userInfo: [NSLocalizedDescriptionKey: text])
            #expect(!SessionFailure.error(cause, hasHead: false, request: request).message.contains("s3cr3t"))
        }
    }

    @Test func theCallersSettingsHoldButForThoseThatArePromised() {
        let configuration = SessionDelegate.configuration(.ephemeral, .system) { configuration in
            configuration.httpMaximumConnectionsPerHost = 3
            configuration.urlCache = .shared
            configuration.requestCachePolicy = .returnCacheDataElseLoad
            configuration.httpCookieStorage = .shared
            configuration.httpShouldSetCookies = true
            configuration.httpCookieAcceptPolicy = .always
            configuration.urlCredentialStorage = .shared
            configuration.timeoutIntervalForRequest = 1
            configuration.timeoutIntervalForResource = 1
        }
        #expect(configuration.httpMaximumConnectionsPerHost == 3)
        #expect(configuration.urlCache == nil)
        #expect(configuration.requestCachePolicy == .reloadIgnoringLocalCacheData)
        #expect(configuration.httpCookieStorage == nil)
        #expect(!configuration.httpShouldSetCookies)
        #expect(configuration.httpCookieAcceptPolicy == .never)
        #expect(configuration.urlCredentialStorage == nil)
        #expect(configuration.timeoutIntervalForRequest == SessionDelegate.noTimeout)
        #expect(configuration.timeoutIntervalForResource == SessionDelegate.noTimeout)
    }

    /// The transport measures its own limits: the system's would end a call that is only slow.
    @Test func requestOfACallHasNoTimeLimitOfTheSystem() throws {
        let request = HTTPRequest(url: try #require(URL(string: "http://a.example/")))
        #expect(try OutgoingRequest(request).urlRequest.timeoutInterval == SessionDelegate.noTimeout)
        #expect(try OutgoingRequest(request, isInBackground: true).urlRequest.timeoutInterval == 60)
    }

    @Test func datesOfAnExchangeBecomeTimingsFromItsStart() {
        let start = Date(timeIntervalSinceReferenceDate: 1_000)
        var dates = ExchangeDates()
        #expect(dates.timings == nil)
        dates.start = start
        dates.nameLookupEnd = start + 0.25
        dates.tlsStart = start + 0.5
        dates.tlsEnd = start + 0.75
        dates.connectEnd = start + 0.75
        dates.responseStart = start + 1
        dates.responseEnd = start + 2
        #expect(
            dates.timings
                == TransferTimings(
                    nameLookup: .milliseconds(250),
                    connect: .milliseconds(500),
                    tls: .milliseconds(750),
                    firstByte: .seconds(1),
                    total: .seconds(2),
                    reusedConnection: false
                )
        )
        // The clock has been set back.
        dates.responseStart = start - 5
        #expect(dates.timings?.firstByte == .zero)
        var reused = ExchangeDates(start: start, responseStart: start + 1, reusedConnection: true)
        #expect(reused.timings?.total == .seconds(1))
        #expect(reused.timings?.connect == .zero)
        reused.nameLookupEnd = start + 0.5
        #expect(reused.timings?.connect == .milliseconds(500))
    }

    @Test func theEarliestPassedLimitIsReported() {
        var limits = TimeLimits(Timeouts(connect: .seconds(5), idle: nil, total: .seconds(30)), calledAt: .seconds(100))
        limits.start(at: .seconds(110))
        #expect(passed(limits, at: 114) == nil)
        #expect(passed(limits, at: 200) == .connect)
        limits.note(at: .seconds(112))
        #expect(passed(limits, at: 129) == nil)
        #expect(passed(limits, at: 130) == .total)
        #expect(limits.silence(at: .seconds(130)) == .seconds(18))
        limits.shortenIdle()
        #expect(passed(limits, at: 200) == .pause)
        limits.note(at: .seconds(129))
        #expect(passed(limits, at: 129) == nil)
        #expect(passed(limits, at: 200) == .total)
    }

    private func passed(_ limits: TimeLimits, at seconds: Int) -> TimeLimits.Limit? {
        var limits = limits
        if case .passed(let limit, _)? = limits.check(at: .seconds(seconds)) { return limit }
        return nil
    }

    @Test func deadlinesAreDecidedWithoutAClock() {
        func passed(_ check: TimeLimits.Check?) -> TimeLimits.Limit? {
            if case .passed(let limit, _)? = check { limit } else { nil }
        }
        var timeLimits = TimeLimits(Timeouts(connect: .seconds(2), idle: .seconds(5), total: .seconds(9)))
        #expect(passed(timeLimits.check(at: .seconds(4))) == nil, "connect runs from the start of the transfer")
        timeLimits.start(at: .seconds(4))
        #expect(passed(timeLimits.check(at: .milliseconds(5999))) == nil)
        #expect(passed(timeLimits.check(at: .seconds(6))) == .connect)
        timeLimits.note(at: .seconds(5))
        #expect(passed(timeLimits.check(at: .seconds(8))) == nil)
        timeLimits.pause(true, at: .seconds(8))
        #expect(passed(timeLimits.check(at: .milliseconds(8999))) == nil)
        #expect(passed(timeLimits.check(at: .seconds(9))) == .total)
        var paused = TimeLimits(Timeouts(idle: .seconds(1)))
        paused.pause(true, at: .zero)
        #expect(passed(paused.check(at: .seconds(50))) == nil)
        paused.pause(false, at: .seconds(50))
        #expect(passed(paused.check(at: .seconds(50))) == nil, "the silence before the reading does not count")
        #expect(passed(paused.check(at: .seconds(51))) == .idle)
        var none = TimeLimits(Timeouts(idle: nil))
        #expect(none.check(at: .zero) == nil)
    }

    @Test func timeInWhichTheProcessWasSuspendedCountsForTheWholeCallAlone() {
        func isWaiting(_ check: TimeLimits.Check?) -> Bool { if case .wait? = check { true } else { false } }
        func passed(_ check: TimeLimits.Check?) -> TimeLimits.Limit? {
            if case .passed(let limit, _)? = check { limit } else { nil }
        }
        let limits = Timeouts(connect: .seconds(10), idle: .seconds(20), total: .seconds(5000))
        var timeLimits = TimeLimits(limits, noticesSuspension: true)
        timeLimits.start(at: .zero)
        #expect(isWaiting(timeLimits.check(at: .zero)))
        // The check for the time after 10 seconds happens after an hour.
        #expect(isWaiting(timeLimits.check(at: .seconds(3600))))
        #expect(passed(timeLimits.check(at: .seconds(3610))) == .connect)
        timeLimits.note(at: .seconds(3610))
        #expect(isWaiting(timeLimits.check(at: .seconds(3610))))
        #expect(isWaiting(timeLimits.check(at: .seconds(3625))), "checks come often enough to see any suspension")
        #expect(passed(timeLimits.check(at: .seconds(3630))) == .idle)
        #expect(passed(timeLimits.check(at: .seconds(7200))) == .total)

        var inVirtualTime = TimeLimits(limits)
        inVirtualTime.start(at: .zero)
        #expect(isWaiting(inVirtualTime.check(at: .zero)))
        #expect(passed(inVirtualTime.check(at: .seconds(3600))) == .connect)
    }
}
