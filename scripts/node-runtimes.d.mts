export declare function nodeRuntime(major: number): string;
