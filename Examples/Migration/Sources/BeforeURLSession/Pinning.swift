#if canImport(CryptoKit) && canImport(Security)
import CryptoKit
import Foundation
import Security

final class PinningDelegate: NSObject, URLSessionDelegate {
    private let pins: Set<String>  // SHA-256 of the certificate, as Base64

    init(pins: Set<String>) {
        self.pins = pins
    }

    func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let trust = challenge.protectionSpace.serverTrust else {
            return completionHandler(.performDefaultHandling, nil)
        }
        guard SecTrustEvaluateWithError(trust, nil),
            let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate],
            chain.contains(where: { certificate in
                let bytes = SecCertificateCopyData(certificate) as Data
                return pins.contains(Data(SHA256.hash(data: bytes)).base64EncodedString())
            })
        else {
            return completionHandler(.cancelAuthenticationChallenge, nil)
        }
        completionHandler(.useCredential, URLCredential(trust: trust))
    }
}
#endif
