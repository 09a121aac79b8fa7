@_exported public import InterceptorsRecordings
