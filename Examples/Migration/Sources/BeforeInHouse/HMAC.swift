import Foundation
import InterceptorsAuthentication

// Stands for CryptoKit or CommonCrypto, which Linux lacks.
func hmacSHA256(of text: String, key: String) throws -> String {
    try SigningKey(key).hmacSHA256(text).base64EncodedString()
}
