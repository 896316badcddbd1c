within ;
package Kilohertz "Small components of our own: for demos, tests and benchmarks, without any other library"
  annotation(version="0.1.0");
end Kilohertz;
