@_exported public import TweakRecords
