public import Foundation
public import Interceptors

extension Client {
    /// Creates a client whose calls a journal records.
    ///
    /// - Parameters:
    ///   - baseURL: an absolute http or https URL. Without a base URL, every call must name an absolute URL.
    ///   - interceptors: the interceptors, outermost first; by default only `.followRedirects()`.
    ///   - transport: the transport that the innermost interceptor calls.
    ///   - encoder: encodes the values of requests.
    ///   - decoder: decodes the values of responses.
    ///   - journal: records what each interceptor does with each call; `nil` for none.
    public init(
        baseURL: URL? = nil,
        interceptors: [any Interceptor] = [.followRedirects()],
        transport: any Transport = .platform(),
        encoder: any BodyEncoder = JSONEncoder(),
        decoder: any BodyDecoder = JSONDecoder(),
        journal: Journal?
    ) {
        self.init(
            baseURL: baseURL,
            interceptors: interceptors,
            transport: transport,
            encoder: encoder,
            decoder: decoder,
            observer: journal
        )
    }
}
